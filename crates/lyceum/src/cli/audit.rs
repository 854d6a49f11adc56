//! `lyceum audit`: prints the audit log, one JSON object per line.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use lyceum_store::{Db, audit};
use serde_json::{Value, json};

use crate::config::Config;

/// Number of entries read at a time.
const PAGE_ROWS: i64 = 1000;

/// Prints the entries after that sequence number.
pub(super) fn audit(config: &Config, after: i64) -> anyhow::Result<ExitCode> {
    let file = config.data_dir.join("auth.db");
    if !file.exists() {
        anyhow::bail!(
            "there is no audit log: {} does not exist. Nobody has signed in yet, or --data-dir names another folder",
            file.display()
        );
    }
    let db = Db::open(&file)?;
    let (mut after, mut out) = (after, io::BufWriter::new(io::stdout().lock()));
    loop {
        let lines = db.read_here(|tx| audit::after(tx, after, PAGE_ROWS))?;
        let Some(last) = lines.last() else { break };
        after = last.seq;
        for line in &lines {
            let detail: Value = serde_json::from_str(&line.detail).unwrap_or_default();
            let shown = json!({
                "seq": line.seq, "at": line.at.to_string(), "kind": line.kind,
                "subject": line.subject, "client": line.client, "detail": detail,
            });
            writeln!(out, "{shown}")?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
