//! Sources and services that are named on the command line, such as `lyceum serve ./docs`.

use serde_json::{Value, json};

use super::{SourceArgument, document::Document, environment, fault::ValueOrigin};

/// Adds the source, and the tables of the services that read it.
pub(super) fn apply(document: &mut Document, argument: &SourceArgument) {
    let flag = || ValueOrigin::Flag("PATH|GIT-URL");
    let location = argument.location.as_str();
    let source = if is_url(location) {
        json!({ "url": location })
    } else {
        json!({ "path": environment::absolute_path(location.as_ref()).display().to_string() })
    };
    let name = document.add_source(&source_name(location), source, flag());
    for service in &argument.services {
        let table = match &service.name {
            Some(own) => format!("/{}/{own}", service.table),
            None => format!("/{}", service.table),
        };
        document.set_in(&table, "source", Value::from(name.clone()), flag());
        if let Some(path) = &service.path {
            document.set_in(&table, "path", Value::from(path.as_str()), flag());
        }
        if !service.exclude.is_empty() {
            let exclude: Vec<&str> = service.exclude.iter().map(lyceum_model::RelPath::as_str).collect();
            document.set_in(&table, "exclude", json!(exclude), flag());
        }
    }
}

/// Whether a location is the URL of a repository, not a path.
pub(crate) fn is_url(location: &str) -> bool {
    location.contains("://") || (location.contains('@') && location.contains(':'))
}

/// Derives a source name from the last part of a path or URL.
fn source_name(location: &str) -> String {
    let path = environment::absolute_path(location.as_ref()).display().to_string();
    let last = path.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let plain = last.strip_suffix(".git").unwrap_or(last).to_lowercase();
    let safe: String =
        plain.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect();
    let name = safe.trim_matches(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    match name.chars().next() {
        Some(first) if first.is_ascii_lowercase() => name.to_owned(),
        Some(_) => format!("kb-{name}"),
        None => "kb".to_owned(),
    }
}
