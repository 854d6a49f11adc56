//! A configuration before it means anything: plain JSON, and the place that each value came from.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::fault::{Fault, ValueOrigin};

/// Values, and where each came from by its JSON pointer.
#[derive(Debug)]
pub(super) struct Document {
    pub values: Value,
    places: BTreeMap<String, ValueOrigin>,
    file: PathBuf,
    /// Whether the file is there.
    pub has_file: bool,
    /// Whether the variables that the file names are read.
    pub may_name_secrets: bool,
}

impl Document {
    /// Nothing yet: every key has its default.
    pub(super) fn empty() -> Self {
        let file = PathBuf::from("lyceum.toml");
        Self {
            values: Value::Object(Map::new()),
            places: BTreeMap::new(),
            file,
            has_file: false,
            may_name_secrets: true,
        }
    }

    /// Reads TOML, with every syntax fault at once.
    pub(super) fn parse(file: &Path, text: &str) -> Result<Self, Vec<Fault>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let fault = |error: &toml::de::Error| Fault {
                place: line_at(file, text, error.span().map_or(0, |span| span.start)),
                key: String::new(),
                message: format!("this is not TOML: {}", error.message()),
            };
            let mut faults: Vec<Fault> = errors.iter().map(fault).collect();
            faults.sort();
            return Err(faults);
        }
        let mut reader = Reader { file, text, places: BTreeMap::new() };
        let values = reader.table(table.get_ref(), "");
        Ok(Self {
            values,
            places: reader.places,
            file: file.to_owned(),
            has_file: true,
            may_name_secrets: true,
        })
    }

    /// Sets one text of a table, over what the file says.
    pub(super) fn set(&mut self, table: &str, key: &str, value: String, place: ValueOrigin) {
        self.set_in(&format!("/{table}"), key, Value::String(value), place);
    }

    /// Sets one value of a table that may be deeper down, over what the file says.
    pub(super) fn set_in(&mut self, table: &str, key: &str, value: Value, place: ValueOrigin) {
        let mut at = &mut self.values;
        for part in table.split('/').skip(1).chain([key]) {
            let Value::Object(object) = at else { return };
            at = object.entry(part).or_insert_with(|| Value::Object(Map::new()));
        }
        *at = value;
        self.places.insert(format!("{table}/{key}"), place);
    }

    /// Adds a source under that name, or one like it where the file has it already; returns the name.
    pub(super) fn add_source(&mut self, name: &str, mut source: Value, place: ValueOrigin) -> String {
        let Value::Object(root) = &mut self.values else { return name.to_owned() };
        let sources = root.entry("source").or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(sources) = sources else { return name.to_owned() };
        let taken = |name: &str| {
            sources.iter().any(|source| source.get("name").and_then(Value::as_str) == Some(name))
        };
        let name = if taken(name) { format!("{name}-env") } else { name.to_owned() };
        if let Value::Object(source) = &mut source {
            source.insert("name".to_owned(), Value::String(name.clone()));
        }
        self.places.insert(format!("/source/{}", sources.len()), place);
        sources.push(source);
        name
    }

    /// Where the value at that pointer came from, or the nearest thing around it.
    pub(super) fn place(&self, pointer: &str) -> ValueOrigin {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.places.get(pointer) {
                return place.clone();
            }
            match pointer.rsplit_once('/') {
                Some((around, _)) => pointer = around,
                None => return ValueOrigin::File(self.file.clone()),
            }
        }
    }

    /// The folder that relative paths start from.
    pub(super) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

/// Turns spanned TOML into JSON and notes the lines.
struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    places: BTreeMap<String, ValueOrigin>,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, at: &str) -> Value {
        let mut object = Map::new();
        for (key, value) in table {
            let pointer = format!("{at}/{}", escaped(key.get_ref()));
            self.places.insert(pointer.clone(), line_at(self.file, self.text, key.span().start));
            let value = self.value(value, &pointer);
            object.insert(key.get_ref().to_string(), value);
        }
        Value::Object(object)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, at: &str) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::from(text.as_ref()),
            DeValue::Boolean(truth) => Value::from(*truth),
            // What JSON has no number for stays text, so that it is a fault and not the default.
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
                    self.places.insert(pointer.clone(), line_at(self.file, self.text, item.span().start));
                    list.push(self.value(item, &pointer));
                }
                Value::Array(list)
            }
        }
    }
}

/// A key as it stands in a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn line_at(file: &Path, text: &str, offset: usize) -> ValueOrigin {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    ValueOrigin::Line { file: file.to_owned(), line }
}
