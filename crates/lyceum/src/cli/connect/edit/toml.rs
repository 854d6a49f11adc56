//! TOML: edits that keep comments, order and spacing.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::{Entry, Slot, SyntaxError};

/// The value in a place.
pub(super) fn get(text: &str, slot: &Slot) -> Result<Option<Value>, SyntaxError> {
    let document = parse(text)?;
    let item = slot.keys().try_fold(document.as_item(), |item, key| item.get(key));
    Ok(item.map(to_json))
}

/// Puts an entry into its place.
pub(super) fn set(text: &str, slot: &Slot, entry: &Entry) -> Result<String, SyntaxError> {
    let fields = entry.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    put(text, slot, &fields.collect::<Vec<_>>())
}

/// Puts what is in that place of another text into this one.
pub(super) fn transplant(text: &str, from: &str, slot: &Slot) -> Result<String, SyntaxError> {
    let document = parse(from)?;
    let item = slot.keys().try_fold(document.as_item(), |item, key| item.get(key));
    let Some(table) = item.and_then(Item::as_table_like) else { return Ok(text.to_owned()) };
    let fields = table.iter().map(|(key, item)| (key.to_owned(), to_json(item)));
    put(text, slot, &fields.collect::<Vec<_>>())
}

/// Removes what is in a place.
pub(super) fn remove(text: &str, slot: &Slot) -> Result<String, SyntaxError> {
    let mut document = parse(text)?;
    let Slot::Member { path, name } = slot else { return Ok(text.to_owned()) };
    let mut item = document.as_item_mut();
    for key in *path {
        let Some(next) = item.get_mut(key) else { return Ok(text.to_owned()) };
        item = next;
    }
    match item.as_table_like_mut().and_then(|servers| servers.remove(name)) {
        Some(_) => Ok(render(&document, text)),
        None => Ok(text.to_owned()),
    }
}

fn put(text: &str, slot: &Slot, fields: &[(String, Value)]) -> Result<String, SyntaxError> {
    let mut document = parse(text)?;
    let Slot::Member { path, name } = slot else { return Ok(text.to_owned()) };
    let mut servers: &mut dyn TableLike = document.as_table_mut();
    let mut is_inline = false;
    for key in *path {
        let item = servers.entry(key).or_insert_with(|| {
            let mut table = Table::new();
            // No header of its own: only the tables of the servers have one.
            table.set_implicit(true);
            Item::Table(table)
        });
        is_inline |= item.is_inline_table();
        let not_a_table =
            || SyntaxError { line: line_of(text, key), message: format!("{key} must be a table") };
        servers = item.as_table_like_mut().ok_or_else(not_a_table)?;
    }
    servers.insert(
        name,
        if is_inline { Item::Value(inline(fields).into()) } else { Item::Table(table(fields)) },
    );
    Ok(render(&document, text))
}

fn table(fields: &[(String, Value)]) -> Table {
    let mut table = Table::new();
    for (key, value) in fields {
        table.insert(key, Item::Value(from_json(value)));
    }
    table
}

fn inline(fields: &[(String, Value)]) -> InlineTable {
    fields.iter().map(|(key, value)| (key.as_str(), from_json(value))).collect()
}

/// Parses a text, and makes sure that it can be written again as it is.
fn parse(text: &str) -> Result<DocumentMut, SyntaxError> {
    let parsed: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        SyntaxError {
            line: before.matches('\n').count() + 1,
            message: error.message().trim().replace('\n', ", "),
        }
    })?;
    if render(&parsed, text) != text {
        let mixed = text.split_inclusive('\n').position(|line| !line.ends_with("\r\n")).unwrap_or_default();
        return Err(SyntaxError {
            line: mixed + 1,
            message: "the file mixes line endings; use one kind".to_owned(),
        });
    }
    Ok(parsed)
}

/// A document with the line endings of a text: the parser knows only one kind.
fn render(document: &DocumentMut, like: &str) -> String {
    let text = document.to_string();
    if like.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

/// The first line that begins with this key.
fn line_of(text: &str, key: &str) -> usize {
    text.lines().position(|line| line.trim_start().starts_with(key)).unwrap_or_default() + 1
}

fn from_json(value: &Value) -> toml_edit::Value {
    match value {
        Value::Array(values) => values.iter().map(from_json).collect::<Array>().into(),
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| (key.as_str(), from_json(value)));
            fields.collect::<InlineTable>().into()
        }
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Null => "".into(),
    }
}

fn to_json(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(table.iter().map(|(key, item)| (key.to_owned(), to_json(item))).collect());
    }
    match item {
        Item::Value(value) => value_to_json(value),
        Item::ArrayOfTables(tables) => {
            let table =
                |table: &Table| table.iter().map(|(key, item)| (key.to_owned(), to_json(item))).collect();
            tables.iter().map(|one| Value::Object(table(one))).collect()
        }
        Item::Table(_) | Item::None => Value::Null,
    }
}

fn value_to_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(value) => Value::from(*value.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(values) => values.iter().map(value_to_json).collect(),
        toml_edit::Value::InlineTable(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.to_owned(), value_to_json(value))).collect())
        }
    }
}
