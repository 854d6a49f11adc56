//! The key of a deployment of several nodes: from the configuration of each, or created once in their database.

use anyhow::Context as _;
use jiff::Timestamp;
use lyceum_auth::Key;
use lyceum_store::{Db, DbError, Tx, kv::Namespace};

/// The key if the configuration has none, and the fingerprint of the key in use.
const DEPLOYMENT: Namespace = Namespace { name: "deployment", ttl_seconds: None };
const KEY: &str = "key";
const FINGERPRINT: &str = "key-fingerprint";

/// How a key compares with that of the other nodes.
enum Match {
    Same(Key),
    Other,
}

/// The key of this node; an error if other nodes use another. Blocks.
pub(super) fn key(db: &Db, configured: Option<Key>) -> anyhow::Result<Key> {
    let new = Key::random().map_err(std::io::Error::other)?;
    key_or(db, configured, new)
}

/// The same, with the key to be stored if there is none. Blocks.
pub(crate) fn key_or(db: &Db, configured: Option<Key>, new: Key) -> anyhow::Result<Key> {
    let is_configured = configured.is_some();
    let matched = db.write_blocking("deployment", move |tx| {
        let key = match &configured {
            Some(key) => key.clone(),
            None => created(tx, &new)?,
        };
        let fingerprint = key.fingerprint();
        DEPLOYMENT.put_new(tx, FINGERPRINT, fingerprint.as_bytes(), Timestamp::UNIX_EPOCH)?;
        let stored = DEPLOYMENT.get(tx, FINGERPRINT, Timestamp::UNIX_EPOCH)?;
        Ok(if stored.as_deref() == Some(fingerprint.as_bytes()) { Match::Same(key) } else { Match::Other })
    });
    match matched.context("cannot read the deployment key in the database of [store]")? {
        Match::Same(key) => Ok(key),
        Match::Other if is_configured => anyhow::bail!(
            "the other nodes of this database use another deployment key; give this node the same (auth.key_env, by default \
             COOKIE_ENCRYPTION_KEY)"
        ),
        Match::Other => anyhow::bail!(
            "the other nodes of this database have a deployment key in their environment; set the same for this node \
             (auth.key_env, by default COOKIE_ENCRYPTION_KEY)"
        ),
    }
}

/// The key in the database, created if there is none.
fn created(tx: &Tx<'_>, new: &Key) -> Result<Key, DbError> {
    DEPLOYMENT.put_new(tx, KEY, new.to_hex().as_bytes(), Timestamp::UNIX_EPOCH)?;
    let stored = DEPLOYMENT.get(tx, KEY, Timestamp::UNIX_EPOCH)?.unwrap_or_default();
    let key = std::str::from_utf8(&stored).ok().and_then(Key::parse);
    key.ok_or_else(|| DbError::Content("the deployment key is not a key".to_owned()))
}
