//! Sign-in, made of the configuration: its database, its key, and what tokens are for.

mod audit;

use std::{
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use jiff::Timestamp;
use lyceum_auth::{Auth, Key, Settings};
use lyceum_model::{Right, Rights};
use lyceum_store::{Db, DbError};
use tracing::Instrument;

pub(crate) use audit::AuditLog;

use crate::{
    app::StartError,
    config::{AuthMode, AuthService, Config},
};

/// The file with the key of this deployment, where the environment has none.
const KEY: &str = "auth.key";

/// How often expired grants and tokens are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// Sign-in, unless everyone may do everything. Tokens are for the services of these names, and hold some of these scopes.
pub(crate) fn service<'a>(
    config: &Config,
    issuer: &str,
    services: impl Iterator<Item = &'a str>,
    rights: Vec<Right>,
) -> Result<Option<Auth>, StartError> {
    let AuthService::Gated(oauth) = &config.auth else { return Ok(None) };
    let db = database(&config.data_dir).map_err(StartError::Auth)?;
    let key = oauth.key.clone().map_or_else(|| key(&config.data_dir), Ok).map_err(StartError::Key)?;
    let of_services = services.map(|service| format!("{issuer}/{service}/mcp"));
    let resources = std::iter::once(format!("{issuer}/mcp")).chain(of_services).collect();
    let settings = Settings {
        issuer: issuer.to_owned(),
        resources,
        key,
        clients: oauth.clients.clone(),
        chains: oauth.chains.clone(),
        hats: oauth.hats.clone(),
        names: oauth.names,
        github: oauth.github.clone(),
        takes_pats: oauth.mode == AuthMode::GithubPat,
        roles_good_for: oauth.roles_good_for,
        keys: oauth.keys.clone(),
        guard: oauth.guard.clone(),
        anonymous: oauth.anonymous,
        rights: Rights::new(rights),
    };
    Ok(Some(Auth::new(db, settings)))
}

/// Deletes expired grants and tokens, now and every hour.
pub(crate) async fn keep_tidy(auth: Auth) {
    loop {
        let span = tracing::error_span!("delete_expired_grants");
        if let Err(error) = auth.sweep(Timestamp::now()).instrument(span.clone()).await {
            tracing::warn!(parent: &span, error.cause = %error, "could not delete expired grants and tokens");
        }
        tokio::time::sleep(SWEEP_INTERVAL).await;
    }
}

/// What people allowed. Only its owner can read it.
fn database(folder: &Path) -> Result<Db, DbError> {
    let file = folder.join("auth.db");
    std::fs::create_dir_all(folder).map_err(DbError::Folder)?;
    std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&file).map_err(DbError::Folder)?;
    Db::open(&file)
}

/// The key in the data folder, made at the first start. Only its owner can read it.
fn key(folder: &Path) -> std::io::Result<Key> {
    let file = folder.join(KEY);
    match std::fs::read_to_string(&file) {
        Ok(text) => {
            let unusable = || {
                std::io::Error::new(
                    ErrorKind::InvalidData,
                    "it does not hold a key; take it away, and all sign in again",
                )
            };
            return Key::parse(&text).ok_or_else(unusable);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    std::fs::create_dir_all(folder)?;
    let key = Key::random().map_err(std::io::Error::other)?;
    // Written whole or not at all: the name comes last, and whoever is first keeps it.
    let new = folder.join(format!("{KEY}.{}", std::process::id()));
    let mut written =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    written.write_all(key.to_hex().as_bytes())?;
    written.sync_all()?;
    let linked = std::fs::hard_link(&new, &file);
    std::fs::remove_file(&new)?;
    match linked {
        Ok(()) => Ok(key),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => self::key(folder),
        Err(error) => Err(error),
    }
}
