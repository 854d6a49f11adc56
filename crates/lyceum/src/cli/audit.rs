//! `lyceum audit`: prints the audit log, a line per event.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Context as _;
use lyceum_store::audit::{self, AuditRow};
use serde_json::{Value, json};

use super::{Format, client::client_name};
use crate::{auth::existing_database, config::Config};

/// Number of entries read at a time.
const PAGE_ROWS: i64 = 1000;

/// Prints the entries after that sequence number.
pub(super) fn audit(config: &Config, after: i64, format: Format) -> anyhow::Result<ExitCode> {
    let db = existing_database(config).context("there is no audit log")?;
    let (mut after, mut out) = (after, io::BufWriter::new(io::stdout().lock()));
    loop {
        let lines = db.read_blocking(|tx| audit::after(tx, after, PAGE_ROWS))?;
        let Some(last) = lines.last() else { break };
        after = last.seq;
        for line in &lines {
            print(&mut out, line, format)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut impl Write, row: &AuditRow, format: Format) -> io::Result<()> {
    let detail: Value = serde_json::from_str(&row.detail).unwrap_or_default();
    let name = detail.get("clientName").and_then(Value::as_str);
    let client = row.client.as_deref().map(|client| client_name(client, name));
    match format {
        Format::Json => {
            let line = json!({
                "seq": row.seq, "at": row.at.to_string(), "kind": row.kind, "subject": row.subject,
                "client": row.client, "clientName": client, "detail": detail,
            });
            writeln!(out, "{line}")
        }
        Format::Text => {
            let at = row.at.strftime("%Y-%m-%d %H:%M:%S");
            let (subject, client) = (row.subject.as_deref().unwrap_or("–"), client.as_deref().unwrap_or("–"));
            writeln!(out, "{}  {at}Z  {}  {subject}  {client}  {detail}", row.seq, row.kind)
        }
    }
}
