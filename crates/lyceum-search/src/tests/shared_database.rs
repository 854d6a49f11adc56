//! Several machines with one database: one writes pages and vectors, each has a lexical index and a cache of its own.

use lyceum_harness::{postgres::Postgres, skip::skipped};
use lyceum_net::Secret;
use lyceum_store::{Db, PostgresSettings};
use tempfile::TempDir;

use super::{Scene, library, page, until};
use crate::{Mode, State, tests::Control};

/// A Postgres server with an empty schema, and a connection to it for each of two machines; `None` if there is none here.
async fn databases() -> Option<(Postgres, [Db; 2])> {
    let start = || -> Result<_, String> {
        let server = Postgres::start().map_err(|error| format!("no Postgres: {error:#}"))?;
        let url = server.empty_schema(&format!("search_{}", std::process::id())).unwrap();
        let settings = PostgresSettings::new(Secret::new(&url).unwrap());
        let connect = || Db::connect(&settings).unwrap();
        Ok((server, [connect(), connect()]))
    };
    let started = tokio::task::spawn_blocking(start).await.unwrap();
    started.inspect_err(|reason| skipped(reason)).ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_machine_finds_what_one_wrote_and_another_takes_over() {
    let Some((_server, [one, two])) = databases().await else { return };
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let (control, follower_control) = (Control::new(), Control::new());
    let first = Scene::open_shared(folders[0].path(), Some("one:256"), &control, Some(one));
    first.put(library()).await;
    first.filled().await;
    let second = Scene::open_shared(folders[1].path(), Some("one:256"), &follower_control, Some(two.clone()));
    until("the second has the vectors", async || {
        let status = second.status().await;
        status.state == State::Ready && status.model.is_some()
    })
    .await;
    until("the second finds words", async || second.ids(Mode::Lexical, "wheels").await.len() == 2).await;
    until("the second finds by vector", async || !second.ids(Mode::Vector, "automobile").await.is_empty())
        .await;
    // It follows: what it is given is not written.
    let late = || vec![page("late", "Late", "a latecomer among pages")];
    assert!(!second.search.apply(super::SOURCE, late(), Vec::new()).await.unwrap());
    first.put(late()).await;
    until("the second finds the new page", async || second.ids(Mode::Lexical, "latecomer").await == ["late"])
        .await;
    assert_eq!(follower_control.embedded(), 0, "each passage is embedded once");

    first.close().await;
    // Its lease runs out.
    two.write("test", |tx| tx.execute("UPDATE leases SET until = 0", [])).await.unwrap();
    second.put(vec![page("next", "Next", "a submarine below")]).await;
    second.filled().await;
    second.check(Mode::Hybrid, "\"submarine below\"", &["next"]).await;
    assert_eq!(follower_control.embedded(), 1);
    second.close().await;
}
