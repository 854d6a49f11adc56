//! What `lyceum doctor` says about the shared database and the bucket.

use std::{fmt::Write, time::Duration};

use bytes::Bytes;
use jiff::Timestamp;
use lyceum_store::{
    Db, Key, Objects,
    inspection::{Inspection, inspect},
};

use crate::service::Examination;

/// How far clocks may be apart: tokens and nonces expire by the clocks of the nodes.
const MAX_SKEW: Duration = Duration::from_secs(5);

/// Connections of a node.
const CONNECTIONS_PER_NODE: i64 = 12;

/// Asks the server twice, and writes, reads and deletes an object.
pub(super) async fn examine(db: &Db, objects: Option<&Objects>) -> anyhow::Result<Examination> {
    let mut text = String::new();
    let mut is_well = true;
    let answers = async { anyhow::Ok((db.read(inspect).await?, Timestamp::now(), db.read(inspect).await?)) };
    match answers.await {
        Ok((first, now, second)) => {
            writeln!(text, "shared store: Postgres {}", first.version)?;
            for warning in warnings(&first, now, second.process) {
                writeln!(text, "  warning  {warning}")?;
            }
        }
        Err(error) => {
            is_well = false;
            writeln!(text, "shared store: the database does not answer: {error:#}")?;
        }
    }
    if let Some(objects) = objects {
        match try_out(objects).await {
            Ok(()) => writeln!(text, "  the bucket can be read and written")?,
            Err(error) => {
                is_well = false;
                writeln!(
                    text,
                    "  the bucket can't be used: {error:#}; check [objects] and the rights of its key"
                )?;
            }
        }
    }
    Ok(Examination { text, is_well, ..Examination::default() })
}

/// What an operator should change.
fn warnings(server: &Inspection, now: Timestamp, next_process: i64) -> Vec<String> {
    let mut warnings = Vec::new();
    if server.standbys > 0 && server.synchronous_standby_names.is_empty() {
        warnings.push(
            "the standby is asynchronous: a failover loses the last acknowledged writes; set synchronous_standby_names"
                .to_owned(),
        );
    }
    if server.encoding != "UTF8" {
        warnings.push(format!(
            "the encoding of the database is {}; create it with ENCODING 'UTF8'",
            server.encoding
        ));
    }
    let skew = now.duration_since(server.now).unsigned_abs();
    if skew > MAX_SKEW {
        let seconds = skew.as_secs();
        warnings.push(format!(
            "the clocks of this machine and the database are {seconds} s apart; synchronize them (NTP)"
        ));
    }
    if server.process != next_process {
        warnings.push(
            "a pooler in transaction mode is in between; PgBouncer before 1.21 needs statements = \"unnamed\" in [store]"
                .to_owned(),
        );
    }
    if server.max_connections < 2 * CONNECTIONS_PER_NODE {
        let max = server.max_connections;
        warnings.push(format!(
            "max_connections is {max}, and each node uses up to {CONNECTIONS_PER_NODE}; raise it, or use a pooler"
        ));
    }
    warnings
}

/// Writes, reads and deletes an object.
async fn try_out(objects: &Objects) -> anyhow::Result<()> {
    let key = Key::parse("doctor/probe")?;
    let bytes = Bytes::from(Timestamp::now().to_string());
    objects.put(&key, bytes.clone()).await?;
    let read = objects.get(&key).await?;
    objects.delete(&key).await?;
    anyhow::ensure!(read == Some(bytes), "what was written is not what is read");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: impl FnOnce(&mut Inspection), next_process: i64, expected: &[&str]) {
        let now = Timestamp::now();
        let mut server = Inspection {
            version: "16.4".to_owned(),
            encoding: "UTF8".to_owned(),
            synchronous_standby_names: String::new(),
            standbys: 0,
            max_connections: 100,
            process: 7,
            now,
        };
        change(&mut server);
        let warnings = warnings(&server, now, next_process);
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        for (warning, part) in warnings.iter().zip(expected) {
            assert!(warning.contains(part), "{warning}");
        }
    }

    #[test]
    fn each_risk_of_a_server_is_named_with_what_to_change() {
        check(|_| {}, 7, &[]);
        check(|server| server.standbys = 1, 7, &["synchronous_standby_names"]);
        let replicated = |server: &mut Inspection| {
            server.standbys = 1;
            server.synchronous_standby_names = "*".to_owned();
        };
        check(replicated, 7, &[]);
        check(|server| server.encoding = "SQL_ASCII".to_owned(), 7, &["ENCODING 'UTF8'"]);
        let late = |server: &mut Inspection| server.now -= jiff::SignedDuration::from_secs(60);
        check(late, 7, &["60 s apart"]);
        check(|_| {}, 8, &["pooler"]);
        check(|server| server.max_connections = 20, 7, &["max_connections is 20"]);
    }
}
