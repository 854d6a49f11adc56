//! Sign-in, built from the configuration: its database, the deployment key, and the resources that tokens are for.

mod audit;
mod sign_in;

use std::{
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::Arc,
};

use lyceum_auth::{Auth, Key, Settings};
use lyceum_model::{Right, Rights};
use lyceum_store::{Db, DbError};

pub(crate) use audit::AuditLog;
pub(crate) use sign_in::{SIGN_IN, SignIn};

use crate::{
    app::StartError,
    config::{AuthMode, AuthService, Config},
    storage::Storage,
};

/// File of the deployment key, if the environment has none.
const KEY: &str = "auth.key";

/// Builds sign-in, unless `auth.mode` is "open". Tokens are for the services of these names and carry some of these scopes.
pub(crate) fn service<'a>(
    config: &Config,
    storage: &Storage,
    issuer: &str,
    services: impl Iterator<Item = &'a str>,
    rights: Vec<Right>,
) -> Result<Option<Arc<SignIn>>, StartError> {
    let AuthService::Gated(oauth) = &config.auth else { return Ok(None) };
    let db = match storage.db() {
        Some(db) => db.clone(),
        None => database(&config.data_dir).map_err(StartError::Auth)?,
    };
    let key = match (storage.key(), &oauth.key) {
        (Some(key), _) | (None, Some(key)) => key.clone(),
        (None, None) => key(&config.data_dir).map_err(StartError::Key)?,
    };
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
    Ok(Some(Arc::new(SignIn::new(Auth::new(db, settings), (**oauth).clone()))))
}

/// The database of sign-in for a command, without creating it. Blocks.
pub(crate) fn existing_database(config: &Config) -> anyhow::Result<Db> {
    if let Some(db) = Storage::open(config)?.db() {
        return Ok(db.clone());
    }
    let file = config.data_dir.join("auth.db");
    if !file.exists() {
        anyhow::bail!(
            "{} does not exist; nobody has signed in yet, or --data-dir names another folder",
            file.display()
        );
    }
    Ok(Db::open(&file)?)
}

/// Opens the database of grants, readable by its owner only.
pub(crate) fn database(folder: &Path) -> Result<Db, DbError> {
    let file = folder.join("auth.db");
    std::fs::create_dir_all(folder).map_err(DbError::Folder)?;
    std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&file).map_err(DbError::Folder)?;
    Db::open(&file)
}

/// Reads the deployment key in the data folder; creates it at the first start, readable by its owner only.
fn key(folder: &Path) -> std::io::Result<Key> {
    match stored_key(folder)? {
        Some(key) => Ok(key),
        None => store_key(folder, Key::random().map_err(std::io::Error::other)?),
    }
}

/// The deployment key in the data folder, if there is one.
pub(crate) fn stored_key(folder: &Path) -> std::io::Result<Option<Key>> {
    match std::fs::read_to_string(folder.join(KEY)) {
        Ok(text) => {
            let unusable = || {
                std::io::Error::new(
                    ErrorKind::InvalidData,
                    "it contains no key; delete it, after which everyone must sign in again",
                )
            };
            Key::parse(&text).map(Some).ok_or_else(unusable)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Stores the deployment key in the data folder, unless there is one; returns the one that is there.
pub(crate) fn store_key(folder: &Path, key: Key) -> std::io::Result<Key> {
    let file = folder.join(KEY);
    std::fs::create_dir_all(folder)?;
    // Atomic: written to a temporary file, then linked; of two processes, the first wins.
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
