//! The database, through its public API.

mod audit;
mod bodies;
mod drafts;
mod durability;
mod events;
mod jobs;
mod kv;
mod leases;
mod migrations;
mod opening;
mod postgres;
mod rate_limits;
mod statements;
mod transfer;
mod vectors;

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use lyceum_harness::{postgres::Postgres, skip::skipped};
use lyceum_net::Secret;
use tempfile::TempDir;

use crate::{Db, PostgresSettings, Statements};

/// A database in a temporary folder.
struct Scene {
    db: Db,
    folder: TempDir,
}

fn scene() -> Scene {
    let folder = TempDir::new().unwrap();
    Scene { db: Db::open(&folder.path().join("lyceum.db")).unwrap(), folder }
}

/// A database on an engine.
struct Engine {
    db: Db,
    _folder: Option<TempDir>,
    _server: Option<Server>,
}

/// An empty database on each engine; on Postgres with and without prepared statements.
async fn engines() -> Vec<Engine> {
    let Scene { db, folder } = scene();
    let mut engines = vec![Engine { db, _folder: Some(folder), _server: None }];
    for statements in [Statements::Named, Statements::Unnamed] {
        let Some(server) = Server::start().await else { break };
        let db = server.connect(PostgresSettings { statements, ..server.settings() }).await;
        engines.push(Engine { db, _folder: None, _server: Some(server) });
    }
    engines
}

/// A schema of the Postgres server.
struct Server {
    postgres: Postgres,
    schema: String,
}

impl Server {
    /// An empty schema; `None` if there is no Postgres here.
    async fn start() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let started = tokio::task::spawn_blocking(Postgres::start).await.unwrap();
        let postgres = match started {
            Ok(postgres) => postgres,
            Err(error) => {
                skipped(&format!("no Postgres: {error:#}"));
                return None;
            }
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let server = Self { postgres, schema: format!("test_{}_{number}", std::process::id()) };
        let schema = &server.schema;
        server.run(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")).await;
        Some(server)
    }

    /// Its address; the name of the schema is also that of the application.
    fn url(&self) -> String {
        format!("{}&application_name={}", self.postgres.url(&self.schema), self.schema)
    }

    fn settings(&self) -> PostgresSettings {
        PostgresSettings::new(Secret::new(&self.url()).unwrap())
    }

    async fn connect(&self, settings: PostgresSettings) -> Db {
        tokio::task::spawn_blocking(move || Db::connect(&settings)).await.unwrap().unwrap()
    }

    /// A connection of our own, not by `Db`.
    async fn client(&self) -> tokio_postgres::Client {
        client(&self.postgres.url(&self.schema)).await
    }

    async fn run(&self, sql: &str) {
        self.client().await.batch_execute(sql).await.unwrap();
    }
}

async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A time, `seconds` after a fixed start.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

const LEASE: Duration = Duration::from_secs(60);
