//! `lyceum grants`: lists OAuth grants, one JSON object per line, or revokes them.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use jiff::Timestamp;
use lyceum_auth::{ClientGrant, end_grants};
use lyceum_store::{Db, grants};

use crate::config::Config;

/// Prints the grants of one subject, or of all; or revokes them.
pub(super) fn grants(config: &Config, subject: Option<&str>, end: Option<&str>) -> anyhow::Result<ExitCode> {
    let file = config.data_dir.join("auth.db");
    if !file.exists() {
        anyhow::bail!(
            "there are no grants: {} does not exist. Nobody has signed in yet, or --data-dir names another folder",
            file.display()
        );
    }
    let (db, now) = (Db::open(&file)?, Timestamp::now());
    let listed = db.read_here(|tx| grants::list(tx, subject, now))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    match end {
        None => {
            for grant in listed {
                writeln!(out, "{}", serde_json::to_string(&ClientGrant::from(grant))?)?;
            }
        }
        Some(end) => {
            let selected: Vec<_> =
                listed.into_iter().filter(|grant| end == "all" || grant.id == end).collect();
            if selected.is_empty() {
                anyhow::bail!("there is no such grant; `lyceum grants` lists all ids");
            }
            let count = selected.len();
            tokio::runtime::Runtime::new()?.block_on(end_grants(&db, selected, now))?;
            writeln!(out, "{count} revoked; a running server rejects their tokens within five seconds")?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
