//! Parses the `config.yaml` of a source into an overlay. Only `scripts` fails closed.

use serde_json::{Map, Value};

use super::Overlay;
use crate::frontmatter::yaml_value;

impl Overlay {
    /// The overlay for an unreadable `config.yaml`: fails closed and disables scripts, since it may have said so.
    pub fn unreadable() -> Self {
        let mut overlay = Self::default();
        overlay.scripts.enabled = Some(false);
        overlay
    }

    /// Parses the `config.yaml` of a source. Invalid keys are ignored with a warning; the others apply. Only `scripts`
    /// fails closed: an invalid key there disables scripts, since it may have said so.
    pub fn from_yaml(text: &str) -> (Self, Vec<String>) {
        let fields = match yaml_value::<Value>(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(Value::Null) => return (Self::default(), Vec::new()),
            Ok(_) => {
                let message = "is not a YAML mapping; it has no effect, and scripts are disabled".to_owned();
                return (Self::unreadable(), vec![message]);
            }
            Err(error) => {
                let message = format!("can't be parsed; it has no effect, and scripts are disabled: {error}");
                return (Self::unreadable(), vec![message]);
            }
        };
        let mut overlay = Self::default();
        let mut warnings = Vec::new();
        for (name, table) in fields {
            let read = match name.as_str() {
                "matching" => {
                    parse_each_key(&name, table, &mut warnings).map(|table| overlay.matching = table)
                }
                "refresh" => parse_each_key(&name, table, &mut warnings).map(|table| overlay.refresh = table),
                "scripts" => parse_table(table).map(|table| overlay.scripts = table),
                "assets" => parse_each_key(&name, table, &mut warnings).map(|table| overlay.assets = table),
                "analytics" => {
                    parse_each_key(&name, table, &mut warnings).map(|table| overlay.analytics = table)
                }
                _ => Err("unknown table".to_owned()),
            };
            match read {
                Ok(()) => {}
                Err(error) if name == "scripts" => {
                    overlay.scripts.enabled = Some(false);
                    warnings.push(format!("{name}: {error}; it has no effect, and scripts are disabled"));
                }
                Err(error) => warnings.push(format!("{name}: {error}; it has no effect")),
            }
        }
        overlay.drop_invalid(&mut warnings);
        (overlay, warnings)
    }

    /// Drops values that are out of range or reserved for the operator. `lyceum.toml` has a schema for that;
    /// `config.yaml` has only this check.
    fn drop_invalid(&mut self, warnings: &mut Vec<String>) {
        if self.scripts.sandbox.take().is_some() {
            let message = "scripts.sandbox: only lyceum.toml can choose the sandbox; it has no effect here";
            warnings.push(message.to_owned());
        }
        if self.scripts.allow.take().is_some() {
            let message = "scripts.allow: only lyceum.toml can allow scripts; it has no effect here";
            warnings.push(message.to_owned());
        }
        if self.scripts.network.take().is_some() {
            let message = "scripts.network: only lyceum.toml can choose the network; it has no effect here";
            warnings.push(message.to_owned());
        }
        let workspace = self.scripts.workspace.take().is_some();
        if self.scripts.workspace_access.take().is_some() || workspace {
            let message = "scripts.workspace: only lyceum.toml or SKILLS_WORKSPACE can choose a workspace; it has no effect here";
            warnings.push(message.to_owned());
        }
        let mut check_range = |valid: bool, name: &str| {
            if !valid {
                warnings.push(format!("{name}: is out of range; it has no effect"));
            }
            valid
        };
        let share = |value: &f64| (0.0..=1.0).contains(value);
        self.matching.min_score =
            self.matching.min_score.filter(|value| check_range(share(value), "matching.min_score"));
        self.matching.ambiguity_threshold = (self.matching.ambiguity_threshold)
            .filter(|value| check_range(share(value), "matching.ambiguity_threshold"));
        self.matching.max_results = self
            .matching
            .max_results
            .filter(|value| check_range((1..=100).contains(value), "matching.max_results"));
        self.refresh.interval_minutes = (self.refresh.interval_minutes)
            .filter(|value| check_range((1..=10_080).contains(value), "refresh.interval_minutes"));
        self.scripts.timeout_seconds = (self.scripts.timeout_seconds)
            .filter(|value| check_range((1..=3600).contains(value), "scripts.timeout_seconds"));
        self.scripts.max_output_bytes = (self.scripts.max_output_bytes)
            .filter(|value| check_range((1..=67_108_864).contains(value), "scripts.max_output_bytes"));
        self.assets.max_size_bytes = (self.assets.max_size_bytes)
            .filter(|value| check_range((1..=67_108_864).contains(value), "assets.max_size_bytes"));
    }
}

fn parse_table<T: serde::de::DeserializeOwned + Default>(table: Value) -> Result<T, String> {
    if table.is_null() {
        Ok(T::default())
    } else {
        serde_json::from_value(table).map_err(|error| error.to_string())
    }
}

/// Parses a table key by key, so that an invalid key is ignored without affecting the others.
fn parse_each_key<T: serde::de::DeserializeOwned + Default>(
    name: &str,
    table: Value,
    warnings: &mut Vec<String>,
) -> Result<T, String> {
    let Value::Object(fields) = table else { return parse_table(table) };
    let mut is_valid = |(key, value): &(String, Value)| {
        let alone = Map::from_iter([(key.clone(), value.clone())]);
        let read = parse_table::<T>(Value::Object(alone));
        warnings.extend(read.as_ref().err().map(|error| format!("{name}.{key}: {error}; it has no effect")));
        read.is_ok()
    };
    parse_table(Value::Object(fields.into_iter().filter(&mut is_valid).collect()))
}
