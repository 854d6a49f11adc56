//! The table `[search]`.

use std::path::{Path, PathBuf};

use lyceum_models::{embedder, reranker};
use lyceum_net::Secret;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::check::{Checker, is_plain};

/// The model that is used where none is named.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";

/// Where models are fetched from.
const DEFAULT_HUB: &str = "https://huggingface.co";

/// Search, as it is declared.
#[derive(Debug, Clone)]
pub struct SearchService {
    /// What makes vectors.
    pub embedder: embedder::Settings,
    /// Its key.
    pub embedder_key: Option<Secret>,
    /// What orders the best results once more.
    pub reranker: reranker::Settings,
    /// Its key.
    pub reranker_key: Option<Secret>,
    /// The folder of models.
    pub models: PathBuf,
    /// Where models are fetched from.
    pub hub: String,
    /// Whether a model that is not here is fetched without being asked for.
    pub fetch: bool,
}

/// What the table declares, with every fault that the schema can't see.
pub(super) fn service(checker: &mut Checker<'_>, data_dir: &Path) -> SearchService {
    let embedder: embedder::Settings =
        declared(checker, "/search/embedder", json!({ "kind": "local" }), |value| {
            if value.get("kind") == Some(&json!("local")) {
                default_to(value, "model", DEFAULT_MODEL);
            }
        });
    let reranker: reranker::Settings =
        declared(checker, "/search/reranker", json!({ "kind": "none" }), |_| {});
    let embedder_key = key(checker, "/search/embedder", embedder.key_env());
    let reranker_key = key(checker, "/search/reranker", reranker.key_env());
    let embedder = match embedder {
        embedder::Settings::Local(mut local) => {
            local.folder = local.folder.map(|folder| checker.path(&folder.display().to_string()));
            embedder::Settings::Local(local)
        }
        other => other,
    };
    let reranker = match reranker {
        reranker::Settings::Local(mut local) => {
            local.folder = checker.path(&local.folder.display().to_string());
            reranker::Settings::Local(local)
        }
        other => other,
    };
    let models = checker.text("/search/models").map(|folder| checker.path(folder));
    let models = models.unwrap_or_else(|| data_dir.join("models"));
    let hub = checker.text("/search/hub").unwrap_or(DEFAULT_HUB).trim_end_matches('/').to_owned();
    if is_plain(&hub) {
        let message = "models are not fetched over plain http; write it with https".to_owned();
        checker.fault("/search/hub", message);
    }
    SearchService { embedder, embedder_key, reranker, reranker_key, models, hub, fetch: false }
}

/// A choice with its settings, or a fault that says which is missing.
fn declared<T: DeserializeOwned + Default>(
    checker: &mut Checker<'_>,
    at: &str,
    usual: Value,
    complete: impl Fn(&mut Value),
) -> T {
    let mut value = checker.document.values.pointer(at).cloned().unwrap_or(usual);
    complete(&mut value);
    serde_json::from_value(value).unwrap_or_else(|error| {
        checker.fault(at, format!("it is not complete: {error}"));
        T::default()
    })
}

fn default_to(value: &mut Value, key: &str, usual: &str) {
    if let Some(table) = value.as_object_mut() {
        table.entry(key).or_insert_with(|| usual.into());
    }
}

/// The key that a variable holds, for an address that it can be sent to without being read on the way.
fn key(checker: &mut Checker<'_>, at: &str, variable: Option<&str>) -> Option<Secret> {
    let name = variable?;
    let place = format!("{at}/key_env");
    if checker.text(&format!("{at}/url")).is_some_and(is_plain) {
        checker.fault(&place, "a key is not sent over plain http; write the url with https".to_owned());
        return None;
    }
    let value = checker.variable(&place, name)?;
    match Secret::for_header(&value) {
        Ok(secret) => Some(secret),
        Err(error) => {
            checker.fault(&place, format!("the variable {name} can't be used: {error}"));
            None
        }
    }
}
