//! `github_app` of a source: a GitHub App as the server's own identity.

use std::fs;

use lyceum_net::Secret;
use lyceum_source::github::{App, AppError, AppSettings};
use reqwest::Url;
use serde_json::Value;

use super::check::{Checker, is_unencrypted};

/// The API of github.com.
const DEFAULT_API: &str = "https://api.github.com";

/// Reads the table below a source, if it is there.
pub(super) fn settings(checker: &mut Checker<'_>, source: &str, url: &str) -> Option<AppSettings> {
    let at = format!("{source}/github_app");
    checker.document.values.pointer(&at)?;
    if checker.text(&format!("{source}/token_env")).is_some() {
        checker.fault(&at, "write either token_env or github_app".to_owned());
    }
    if !url.starts_with("https://") && (!url.starts_with("http://") || is_unencrypted(url)) {
        checker.fault(&at, "a GitHub App needs an https URL; write it in url".to_owned());
    }
    let number = |key: &str| checker.document.values.pointer(&format!("{at}/{key}")).and_then(Value::as_u64);
    let (app_id, installation_id) = (number("app_id"), number("installation_id"));
    let api = checker.text(&format!("{at}/api")).unwrap_or(DEFAULT_API);
    let api = Url::parse(api).ok().filter(|api| api.scheme() == "https" || !is_unencrypted(api.as_str()));
    if api.is_none() {
        let message = "is not an https URL; write for example \"https://github.example.org/api/v3\"";
        checker.fault(&format!("{at}/api"), message.to_owned());
    }
    let (key_at, key) = key(checker, &at)?;
    let settings = AppSettings { api: api?, app_id: app_id?, installation_id: installation_id?, key };
    match App::new(settings.clone()) {
        Ok(_) => Some(settings),
        Err(error @ (AppError::Key | AppError::Setup(_))) => {
            checker.fault(&key_at, error.to_string());
            None
        }
    }
}

/// The private key, and which setting names it.
fn key(checker: &mut Checker<'_>, at: &str) -> Option<(String, Secret)> {
    let (variable, file) = (format!("{at}/key_env"), format!("{at}/key_file"));
    let (at, text) = match (checker.text(&variable), checker.text(&file)) {
        (Some(name), None) => (variable.clone(), checker.variable(&variable, name)?),
        (None, Some(path)) => {
            checker.may_name_secret(&file)?;
            let path = checker.path(path);
            let text = fs::read_to_string(&path).map_err(|error| {
                checker.fault(&file, format!("cannot read {}: {}", path.display(), error.kind()));
            });
            (file.clone(), text.ok()?)
        }
        (Some(_), Some(_)) | (None, None) => {
            checker.fault(at, "write either key_env or key_file".to_owned());
            return None;
        }
    };
    let key = Secret::for_signature(&text);
    if key.is_none() {
        checker.fault(&at, AppError::Key.to_string());
    }
    Some((at, key?))
}
