//! The tables that declare services: `[knowledge]`, and `[knowledge.NAME]` as often as there are knowledge bases.

use lyceum_model::Domain;
use lyceum_tools::Prefix;
use serde_json::{Map, Value};

use super::{
    Source,
    check::Checker,
    document::{Document, escaped},
    schema,
};
use crate::{
    service::{Declared, Kind},
    services::SERVER,
};

/// One table of a service.
#[derive(Debug)]
pub struct Table {
    pub(super) kind: &'static Kind,
    /// Its JSON pointer.
    pub at: String,
    /// The name of the service, as it is written; nothing where the table has none of its own.
    name: Option<String>,
    /// What it says, without the tables of others.
    pub values: Value,
}

impl Table {
    /// Every table of those kinds. What is no key of its kind, and a table with such keys, is a service of that name.
    pub(super) fn all(document: &Document, kinds: &[&'static Kind]) -> Vec<Self> {
        let of_kind = |kind: &&'static Kind| {
            let kind = *kind;
            let at = format!("/{}", kind.table);
            let Some(Value::Object(written)) = document.values.get(kind.table) else {
                let written = document.values.get(kind.table).cloned();
                return written.map(|values| Self { kind, at, name: None, values }).into_iter().collect();
            };
            let keys = schema::keys_of(kind);
            let has_keys = |table: &Map<String, Value>| table.keys().any(|key| keys.contains(key));
            let is_named =
                |key: &String, value: &Value| !keys.contains(key) && value.as_object().is_some_and(has_keys);
            let (named, own): (Map<_, _>, Map<_, _>) =
                written.clone().into_iter().partition(|(key, value)| is_named(key, value));
            let mut tables = Vec::new();
            if named.is_empty() || !own.is_empty() {
                tables.push(Self { kind, at: at.clone(), name: None, values: Value::Object(own) });
            }
            tables.extend(named.into_iter().map(|(name, values)| Self {
                kind,
                at: format!("{at}/{}", escaped(&name)),
                name: Some(name),
                values,
            }));
            tables
        };
        kinds.iter().flat_map(of_kind).collect()
    }

    /// What it declares, with every fault that the schema can't see.
    pub(super) fn declared(&self, checker: &mut Checker<'_>, sources: &[Source]) -> Option<Declared> {
        let name = self.name.as_deref().unwrap_or(self.kind.table);
        let parsed = Domain::parse(name).map_err(|error| checker.fault(&self.at, error.to_string())).ok();
        if name == SERVER.as_str() {
            checker.fault(
                &self.at,
                format!("{name} is the service that every server has; name yours otherwise"),
            );
        }
        let prefix = self.prefix(checker);
        let settings = (self.kind.check)(checker, self, sources);
        if settings.is_none() && checker.faults.is_empty() {
            // Nothing that is declared is left out in silence.
            checker.fault(&self.at, "can't be read as it is written".to_owned());
        }
        Some(Declared { kind: self.kind, name: parsed?, prefix: prefix?, settings: settings? })
    }

    /// What stands before the names of its tools: what is written, and else the name of a service that has one.
    fn prefix(&self, checker: &mut Checker<'_>) -> Option<Prefix> {
        let at = format!("{}/prefix", self.at);
        let of_name = |name: &str| format!("{}_", name.replace('-', "_"));
        let usual = self.name.as_deref().map(of_name).unwrap_or_default();
        let written = checker.text(&at).map_or(usual, str::to_owned);
        Prefix::parse(&written).map_err(|error| checker.fault(&at, error.to_string())).ok()
    }
}

/// Refuses two services of one name.
pub(super) fn refuse_duplicates(checker: &mut Checker<'_>, tables: &[Table]) {
    let name = |table: &Table| table.name.clone().unwrap_or_else(|| table.kind.table.to_owned());
    for (place, table) in tables.iter().enumerate() {
        if tables.iter().take(place).any(|first| name(first) == name(table)) {
            let message = format!("{} is the name of another service; give each its own", name(table));
            checker.fault(&table.at, message);
        }
    }
}
