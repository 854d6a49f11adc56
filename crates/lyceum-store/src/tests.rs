//! The database, through its public API.

mod audit;
mod bodies;
mod durability;
mod events;
mod jobs;
mod kv;
mod leases;
mod migrations;
mod opening;
mod vectors;

use std::time::Duration;

use jiff::Timestamp;
use tempfile::TempDir;

use crate::Db;

/// A database in a temporary folder.
struct Scene {
    db: Db,
    folder: TempDir,
}

fn scene() -> Scene {
    let folder = TempDir::new().unwrap();
    Scene { db: Db::open(&folder.path().join("lyceum.db")).unwrap(), folder }
}

/// A time, `seconds` after a fixed start.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

const LEASE: Duration = Duration::from_secs(60);
