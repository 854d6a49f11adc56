//! `lyceum grants`: lists OAuth grants, or revokes them.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Context as _;
use jiff::Timestamp;
use lyceum_auth::{ClientGrant, end_grants};
use lyceum_store::grants;

use super::{Format, client::client_name};
use crate::{auth::existing_database, config::Config, finding::counted};

/// Prints the grants of one subject, or of all; or revokes them.
pub(super) fn grants(
    config: &Config,
    subject: Option<&str>,
    end: Option<&str>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let db = existing_database(config).context("there are no grants")?;
    let now = Timestamp::now();
    let listed = db.read_blocking(|tx| grants::list(tx, subject, now))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    match end {
        None => {
            for grant in listed {
                print(&mut out, &ClientGrant::from(grant), format)?;
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
            let grants = counted(count, "grant", "grants");
            writeln!(out, "{grants} revoked; a running server rejects their tokens within five seconds")?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut impl Write, grant: &ClientGrant, format: Format) -> anyhow::Result<()> {
    let client = client_name(&grant.client_id, grant.client_name.as_deref());
    match format {
        Format::Json => {
            let mut line = serde_json::to_value(grant)?;
            if let Some(line) = line.as_object_mut() {
                line.insert("client".to_owned(), client.into());
            }
            writeln!(out, "{line}")?;
        }
        Format::Text => {
            let ClientGrant { id, subject, scope, created, expires, .. } = grant;
            let day = |time: &Timestamp| time.strftime("%Y-%m-%d").to_string();
            writeln!(
                out,
                "{id}  {client}\n  {subject}, scopes {scope}, {} to {}",
                day(created),
                day(expires)
            )?;
        }
    }
    Ok(())
}
