//! The service tables: `[knowledge]`, and `[knowledge.NAME]` for each further knowledge base.

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
    auth::SIGN_IN,
    service::{Declared, Kind},
    services::SERVER,
    storage::STORE,
};

/// One service table.
#[derive(Debug)]
pub struct Table {
    pub(super) kind: &'static Kind,
    /// Its JSON pointer.
    pub at: String,
    /// The name in `[kind.NAME]`; `None` for `[kind]`.
    name: Option<String>,
    /// Its values, without nested service tables.
    pub values: Value,
}

impl Table {
    /// All service tables. A nested table under an unknown key that contains keys of its kind is a named service.
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

    /// Validates the table beyond its schema.
    pub(super) fn declared(&self, checker: &mut Checker<'_>, sources: &[Source]) -> Option<Declared> {
        let name = self.name.as_deref().unwrap_or(self.kind.table);
        let parsed = Domain::parse(name).map_err(|error| checker.fault(&self.at, error.to_string())).ok();
        if name == SERVER.as_str() || name == SIGN_IN.as_str() || name == STORE.as_str() {
            checker.fault(&self.at, format!("{name} is the name of a built-in service; choose another name"));
        }
        let prefix = self.prefix(checker);
        let settings = (self.kind.check)(checker, self, sources);
        if settings.is_none() && checker.faults.is_empty() {
            // A declared service must never be dropped silently.
            checker.fault(&self.at, "cannot parse this table".to_owned());
        }
        Some(Declared { kind: self.kind, name: parsed?, prefix: prefix?, settings: settings? })
    }

    /// The prefix of its tool names: as configured, or derived from the name of a named service.
    fn prefix(&self, checker: &mut Checker<'_>) -> Option<Prefix> {
        let at = format!("{}/prefix", self.at);
        let of_name = |name: &str| format!("{}_", name.replace('-', "_"));
        let default = self.name.as_deref().map(of_name).unwrap_or_default();
        let written = checker.text(&at).map_or(default, str::to_owned);
        Prefix::parse(&written).map_err(|error| checker.fault(&at, error.to_string())).ok()
    }
}

/// Reports services with the same name.
pub(super) fn refuse_duplicates(checker: &mut Checker<'_>, tables: &[Table]) {
    let name = |table: &Table| table.name.clone().unwrap_or_else(|| table.kind.table.to_owned());
    for (index, table) in tables.iter().enumerate() {
        if tables.iter().take(index).any(|first| name(first) == name(table)) {
            let message =
                format!("{} is the name of another service; give each service its own name", name(table));
            checker.fault(&table.at, message);
        }
    }
}
