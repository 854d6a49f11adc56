//! The tables `[store]` and `[objects]`: what several nodes share.

use std::path::PathBuf;

use lyceum_net::Secret;
use lyceum_store::{PostgresSettings, Statements};

use super::{
    Bucket,
    check::{Checker, is_unencrypted},
};

/// The database that several nodes share.
#[derive(Debug, Clone)]
pub struct SharedStore {
    /// The variable with its address, for messages.
    pub variable: String,
    /// How to connect.
    pub settings: PostgresSettings,
}

/// Validates `[store]` beyond its schema.
pub(super) fn store(checker: &mut Checker<'_>) -> Option<SharedStore> {
    checker.document.values.pointer("/store")?;
    if checker.document.values.pointer("/objects").is_none() {
        let message = "needs an object store that all nodes share; add [objects] with name, endpoint, access_key_env and \
                       secret_key_env of a bucket";
        checker.fault("/store", message.to_owned());
    }
    let at = "/store/url_env";
    let variable = checker.text(at)?.to_owned();
    let value = checker.variable(at, &variable)?;
    let url = Secret::new(&value)
        .ok()
        .filter(|url| ["postgres://", "postgresql://"].iter().any(|scheme| url.reveal().starts_with(scheme)));
    let Some(url) = url else {
        // Not repeated, for it contains a password.
        let message = format!(
            "the variable {variable} is not the address of a Postgres database; it has the form postgres://user:password@host/database"
        );
        checker.fault(at, message);
        return None;
    };
    let ca_file: Option<PathBuf> = checker.text("/store/ca_file").map(|file| checker.path(file));
    let statements = match checker.text("/store/statements") {
        Some("unnamed") => Statements::Unnamed,
        _ => Statements::Named,
    };
    Some(SharedStore {
        variable,
        settings: PostgresSettings { ca_file, statements, ..PostgresSettings::new(url) },
    })
}

/// An object store, if there is a table at that pointer.
pub(super) fn bucket(checker: &mut Checker<'_>, at: &str) -> Option<Bucket> {
    checker.document.values.pointer(at)?;
    let text = |checker: &Checker<'_>, key: &str| checker.text(&format!("{at}/{key}")).map(str::to_owned);
    let endpoint = text(checker, "endpoint")?;
    if is_unencrypted(&endpoint) {
        checker.fault(&format!("{at}/endpoint"), "keys are not sent over plain http; use https".to_owned());
    }
    let mut key = |name: &str| {
        let at = format!("{at}/{name}");
        let variable = checker.text(&at)?;
        let value = checker.variable(&at, variable)?;
        checker.token_in(&at, variable, &value)
    };
    let (access_key, secret_key) = (key("access_key_env"), key("secret_key_env"));
    Some(Bucket {
        name: text(checker, "name")?,
        endpoint,
        region: text(checker, "region").unwrap_or_else(|| "auto".to_owned()),
        prefix: text(checker, "prefix"),
        access_key: access_key?,
        secret_key: secret_key?,
    })
}
