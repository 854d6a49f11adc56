//! A configuration before validation: JSON, and the origin of each value.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::fault::{Fault, ValueOrigin};

/// Values, and the origin of each by its JSON pointer.
#[derive(Debug)]
pub(super) struct Document {
    pub values: Value,
    origins: BTreeMap<String, ValueOrigin>,
    file: PathBuf,
    /// Whether there is a file.
    pub has_file: bool,
    /// Whether the file may name variables with secrets.
    pub may_name_secrets: bool,
}

impl Document {
    /// An empty configuration, in which every key has its default.
    pub(super) fn empty() -> Self {
        let file = PathBuf::from("lyceum.toml");
        Self {
            values: Value::Object(Map::new()),
            origins: BTreeMap::new(),
            file,
            has_file: false,
            may_name_secrets: true,
        }
    }

    /// Parses TOML; reports all syntax errors at once.
    pub(super) fn parse(file: &Path, text: &str) -> Result<Self, Vec<Fault>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let fault = |error: &toml::de::Error| Fault {
                origin: line_at(file, text, error.span().map_or(0, |span| span.start)),
                key: String::new(),
                message: format!("invalid TOML: {}", error.message()),
            };
            let mut faults: Vec<Fault> = errors.iter().map(fault).collect();
            faults.sort();
            return Err(faults);
        }
        let mut reader = Reader { file, text, origins: BTreeMap::new() };
        let values = reader.table(table.get_ref(), "");
        Ok(Self {
            values,
            origins: reader.origins,
            file: file.to_owned(),
            has_file: true,
            may_name_secrets: true,
        })
    }

    /// Sets a string in a top-level table, overriding the file.
    pub(super) fn set(&mut self, table: &str, key: &str, value: String, origin: ValueOrigin) {
        self.set_in(&format!("/{table}"), key, Value::String(value), origin);
    }

    /// Sets a value in a nested table, overriding the file.
    pub(super) fn set_in(&mut self, table: &str, key: &str, value: Value, origin: ValueOrigin) {
        let mut at = &mut self.values;
        for part in table.split('/').skip(1).chain([key]) {
            let Value::Object(object) = at else { return };
            at = object.entry(part).or_insert_with(|| Value::Object(Map::new()));
        }
        *at = value;
        self.origins.insert(format!("{table}/{key}"), origin);
    }

    /// Adds a source under that name, with a suffix if the name is taken; returns the name.
    pub(super) fn add_source(&mut self, name: &str, mut source: Value, origin: ValueOrigin) -> String {
        let Value::Object(root) = &mut self.values else { return name.to_owned() };
        let sources = root.entry("source").or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(sources) = sources else { return name.to_owned() };
        let taken = |name: &str| {
            sources.iter().any(|source| source.get("name").and_then(Value::as_str) == Some(name))
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let name = names.find(|name| !taken(name)).unwrap_or_else(|| name.to_owned());
        if let Value::Object(source) = &mut source {
            source.insert("name".to_owned(), Value::String(name.clone()));
        }
        self.origins.insert(format!("/source/{}", sources.len()), origin);
        sources.push(source);
        name
    }

    /// The origin of the value at that pointer, or of the nearest value around it.
    pub(super) fn origin(&self, pointer: &str) -> ValueOrigin {
        let mut pointer = pointer;
        loop {
            if let Some(origin) = self.origins.get(pointer) {
                return origin.clone();
            }
            match pointer.rsplit_once('/') {
                Some((parent, _)) => pointer = parent,
                None => return ValueOrigin::File(self.file.clone()),
            }
        }
    }

    /// A pointer as it is shown: `server.listen`. A table of an array is shown by its name, as in `source "kb".url`, or by its position,
    /// from 1.
    pub(super) fn shown(&self, pointer: &str) -> String {
        let (mut shown, mut around) = (String::new(), Some(&self.values));
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let item =
                around.and_then(Value::as_array).and_then(|items| items.get(part.parse::<usize>().ok()?));
            let name = item.and_then(|item| item.get("name")).and_then(Value::as_str);
            // Writing to a string can't fail.
            let _written = match (item, name, part.parse::<usize>()) {
                (_, Some(name), _) => write!(shown, " {name:?}"),
                (Some(Value::Object(_)), None, Ok(position)) => write!(shown, " {}", position + 1),
                _ if shown.is_empty() => write!(shown, "{part}"),
                _ => write!(shown, ".{part}"),
            };
            around = item.or_else(|| around?.get(&part));
        }
        shown
    }

    /// The folder that relative paths are resolved against.
    pub(super) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

/// Converts spanned TOML to JSON, and records the line of each value.
struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    origins: BTreeMap<String, ValueOrigin>,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, at: &str) -> Value {
        let mut object = Map::new();
        for (key, value) in table {
            let pointer = format!("{at}/{}", escaped(key.get_ref()));
            self.origins.insert(pointer.clone(), line_at(self.file, self.text, key.span().start));
            let value = self.value(value, &pointer);
            object.insert(key.get_ref().to_string(), value);
        }
        Value::Object(object)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, at: &str) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::from(text.as_ref()),
            DeValue::Boolean(truth) => Value::from(*truth),
            // A number that JSON can't represent becomes a string, so that validation rejects it.
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| Value::from(number.as_str()), Value::from),
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(float) if float.is_finite() => Value::from(float),
                _ => Value::from(number.as_str()),
            },
            DeValue::Datetime(time) => Value::from(time.to_string()),
            DeValue::Table(table) => self.table(table, at),
            DeValue::Array(items) => {
                let mut list = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let pointer = format!("{at}/{index}");
                    self.origins.insert(pointer.clone(), line_at(self.file, self.text, item.span().start));
                    list.push(self.value(item, &pointer));
                }
                Value::Array(list)
            }
        }
    }
}

/// Escapes a key for a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn line_at(file: &Path, text: &str, offset: usize) -> ValueOrigin {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    ValueOrigin::Line { file: file.to_owned(), line }
}
