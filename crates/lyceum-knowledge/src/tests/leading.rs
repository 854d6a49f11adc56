//! Who may publish, and followers of a database that went back.

use std::sync::Arc;

use lyceum_harness::{postgres::Postgres, skip::skipped};
use lyceum_net::Secret;
use lyceum_store::{
    Db, DbError, Objects, PostgresSettings,
    leases::{self, Holder, Takeover},
};

use super::base::{Base, document};
use crate::{SyncError, sync::OnProgress};

/// What a sync writes.
const TABLES: [&str; 5] = ["counters", "events", "sources", "files", "documents"];

/// Runs statements for each table.
async fn for_each_table(db: &Db, statements: &'static [&'static str]) {
    let written = db.write("test", move |tx| {
        for (table, statement) in
            TABLES.iter().flat_map(|table| statements.iter().map(move |sql| (table, sql)))
        {
            tx.execute(&statement.replace("{table}", table), [])?;
        }
        Ok(())
    });
    written.await.unwrap();
}

#[tokio::test]
async fn a_catalog_notices_that_the_database_went_back_to_a_backup() {
    let base = Base::of(&[("notes/a.md", &document("A", "", "text"))]).await;
    let db = &base.knowledge.db;
    for_each_table(db, &["CREATE TABLE saved_{table} AS SELECT * FROM {table}"]).await;
    base.write("notes/lost.md", &document("Lost", "", "text"));
    base.sync().await;
    let lost = base.knowledge.snapshot().position;
    assert_eq!(base.paths(), ["notes/a.md", "notes/lost.md"]);

    for_each_table(db, &["DELETE FROM {table}", "INSERT INTO {table} SELECT * FROM saved_{table}"]).await;
    base.remove("notes/lost.md");
    base.write("notes/other.md", &document("Other", "", "text"));
    base.sync().await;
    let other = base.knowledge.snapshot().position;
    assert_eq!((other.seq, other.mark == lost.mark), (lost.seq, false), "the same number, for another event");
    assert_eq!(base.paths(), ["notes/a.md", "notes/other.md"]);
}

#[tokio::test]
async fn a_sync_publishes_nothing_after_another_process_has_taken_over() {
    let base = Base::of(&[("notes/a.md", &document("A", "", "text"))]).await;
    let db = base.knowledge.db.clone();
    let name = base.knowledge.options.about();
    base.write("notes/b.md", &document("B", "", "text"));
    // While the sync reads, another takes over, as if this process had been paused.
    let on_progress: OnProgress = Arc::new(move |_| {
        let (db, name) = (db.clone(), name.clone());
        let take_over = move || {
            let holder = Holder::random().unwrap();
            db.write_blocking("test", move |tx| leases::acquire(tx, &name, &holder, Takeover::Any))
        };
        assert!(std::thread::spawn(take_over).join().unwrap().unwrap().is_some());
    });
    let refused = base.knowledge.sync(&on_progress).await;
    assert!(matches!(refused, Err(SyncError::Db(DbError::LeaseLost))), "{refused:?}");
    assert_eq!(base.paths(), ["notes/a.md"]);
    // The file lock proves that the other has ended, so the next sync takes the lease back.
    base.sync().await;
    assert_eq!(base.paths(), ["notes/a.md", "notes/b.md"]);
}

#[tokio::test]
async fn a_nul_in_a_file_is_replaced() {
    let base = Base::of(&[("notes/a.md", &document("A", "", "before\0after"))]).await;
    let entry = base.knowledge.snapshot().catalog.get("file", "a").unwrap().clone();
    let stored = base.knowledge.document(&entry).await.unwrap();
    assert_eq!(stored.content.trim(), "before\u{fffd}after");
}

#[tokio::test]
async fn machines_with_one_database_publish_one_after_the_other_and_show_the_same() {
    let start = || -> Result<_, String> {
        let server = Postgres::start().map_err(|error| format!("no Postgres: {error:#}"))?;
        let url = server.empty_schema(&format!("knowledge_{}", std::process::id())).unwrap();
        let settings = PostgresSettings::new(Secret::new(&url).unwrap());
        Ok((server, Db::connect(&settings).unwrap(), Db::connect(&settings).unwrap()))
    };
    let started = tokio::task::spawn_blocking(start).await.unwrap();
    let Ok((_server, one, two)) = started.inspect_err(|reason| skipped(reason)) else { return };
    let (source, objects) = (tempfile::tempdir().unwrap(), Objects::memory());
    let write = |name: &str| std::fs::write(source.path().join(name), document(name, "", "text")).unwrap();
    write("a.md");
    let first = Base::on_machine(source.path(), objects.clone(), one).await;
    let second = Base::on_machine(source.path(), objects, two.clone()).await;
    first.sync().await;
    second.knowledge.update_catalog().await.unwrap();
    assert_eq!((first.paths(), second.paths()), (vec!["a.md".to_owned()], vec!["a.md".to_owned()]));
    let entry = second.knowledge.snapshot().catalog.entries()[0].clone();
    assert_eq!(second.knowledge.document(&entry).await.unwrap().content.trim(), "text");

    write("b.md");
    let quiet: OnProgress = Arc::new(|_| ());
    let refused = second.knowledge.sync(&quiet).await;
    assert!(matches!(refused, Err(SyncError::NotLeader)), "{refused:?}");
    // The lease of the first runs out, as if it had ended; the second takes over.
    two.write("test", |tx| tx.execute("UPDATE leases SET until = 0", [])).await.unwrap();
    second.sync().await;
    first.knowledge.update_catalog().await.unwrap();
    assert_eq!(first.paths(), ["a.md", "b.md"]);
    write("c.md");
    let refused = first.knowledge.sync(&quiet).await;
    assert!(matches!(refused, Err(SyncError::Db(DbError::LeaseLost))), "{refused:?}");
}
