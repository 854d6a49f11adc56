//! `lyceum migrate`: moves sign-in between the data folder of one machine and the database of several.
//!
//! Documents, catalogs and indexes are derived from the sources, and synced anew.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, bail};
use lyceum_auth::Key;
use lyceum_store::{Leader, transfer::copy_sign_in};

use crate::{
    auth,
    config::{AuthService, Config},
    finding::counted,
    storage::{self, deployment},
};

/// The arguments of `lyceum migrate`.
#[derive(Debug, clap::Args)]
pub(super) struct MigrateArgs {
    /// Where to: "store" is the database of [store], "data-dir" the data folder
    #[arg(long, value_enum)]
    to: Target,
}

/// Where sign-in moves to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    Store,
    DataDir,
}

/// Copies, compares both sides, and puts the origin away. Can run again after an interruption.
pub(super) fn migrate(config: &Config, args: &MigrateArgs) -> anyhow::Result<ExitCode> {
    let Some(store) = &config.store else {
        bail!(
            "the configuration names no shared database; add [store] and [objects] (docs/several-machines.md)"
        );
    };
    let configured = match &config.auth {
        AuthService::Gated(oauth) => oauth.key.clone(),
        AuthService::Open => None,
    };
    let folder = &config.data_dir;
    let _locks = locks(folder)?;
    let shared = storage::connect(store)?;
    let copied = match args.to {
        Target::Store => {
            let file = folder.join("auth.db");
            if !file.exists() {
                bail!(
                    "there is nothing to move: {} does not exist; it was moved before, or --data-dir names another folder",
                    file.display()
                );
            }
            let own = auth::stored_key(folder).context("cannot read auth.key in the data folder")?;
            let new = own.map_or_else(Key::random, Ok).map_err(io::Error::other)?;
            deployment::key_or(&shared, configured, new)?;
            let copied = copy_sign_in(&auth::database(folder)?, &shared)?;
            // An old configuration must not go on with it.
            for name in ["auth.db", "auth.db-wal", "auth.db-shm"] {
                match fs::rename(folder.join(name), folder.join(format!("{name}.moved"))) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                    _ => {}
                }
            }
            copied
        }
        Target::DataDir => {
            let new = Key::random().map_err(io::Error::other)?;
            let key = deployment::key_or(&shared, configured.clone(), new)?;
            if configured.is_none() && auth::store_key(folder, key.clone())?.to_hex() != key.to_hex() {
                bail!(
                    "the data folder has another deployment key (auth.key); move it away, or name another folder with --data-dir"
                );
            }
            copy_sign_in(&shared, &auth::database(folder)?)?
        }
    };
    let mut out = io::stdout().lock();
    for (table, count) in copied {
        writeln!(out, "{table}: {}, equal on both sides", counted(count, "row", "rows"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The locks of the data folder, so that no server uses it meanwhile.
fn locks(data: &Path) -> anyhow::Result<Vec<Leader>> {
    let mut locks = Vec::new();
    for kind in ["knowledge", "search"] {
        let folders = match fs::read_dir(data.join(kind)) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            folders => folders?,
        };
        for folder in folders {
            let folder = folder?.path();
            if !folder.is_dir() {
                continue;
            }
            let Some(lock) = Leader::try_acquire(&folder)? else {
                bail!("a server uses the data folder {}; stop it first", data.display());
            };
            locks.push(lock);
        }
    }
    Ok(locks)
}
