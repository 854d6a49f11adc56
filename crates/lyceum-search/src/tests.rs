//! Tests of search through its public API.

mod corruption;
mod crashes;
mod failure_reports;
mod fake;
mod filters;
mod models;
mod persistence;
mod processes;
mod queries;
mod rejected_chunks;
mod shared_database;
mod unit_vectors;

use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use jiff::Timestamp;
use lyceum_store::Db;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use fake::Control;
pub(crate) use unit_vectors::{direction, unit};

use crate::{Facts, Kind, Mode, Options, Page, Query, QueryResult, Search, Status};

/// Default source of test pages.
const SOURCE: &str = "docs";

/// A running index with its background tasks, as in a server.
struct Scene {
    search: Arc<Search>,
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Scene {
    /// Opens a folder with a model, `name:dimensions`, or without one.
    fn open(folder: &Path, model: Option<&str>, control: &Arc<Control>) -> Self {
        Self::open_shared(folder, model, control, None)
    }

    /// Like `open`, with a database that others use too.
    fn open_shared(folder: &Path, model: Option<&str>, control: &Arc<Control>, shared: Option<Db>) -> Self {
        let search = Arc::new(Search::new(Options {
            folder: folder.to_owned(),
            shared: shared.map(|db| (db, "kb".to_owned())),
            embedder: model.map(str::to_owned),
            connect: control.connect(),
            reranker: None,
        }));
        let stop = CancellationToken::new();
        let tasks = vec![
            tokio::spawn(search.clone().keep_open(stop.clone())),
            tokio::spawn(search.clone().keep_embedded(stop.clone())),
        ];
        Self { search, stop, tasks }
    }

    /// Shuts down as at the end of a process.
    async fn close(self) {
        self.stop.cancel();
        for task in self.tasks {
            tokio::time::timeout(Duration::from_secs(20), task).await.unwrap().unwrap();
        }
        // Work on blocking threads can't be cancelled: it ends on its own.
        until("the index is no longer in use", async || Arc::strong_count(&self.search) == 1).await;
    }

    async fn put(&self, pages: Vec<Page>) {
        assert!(self.search.apply(SOURCE, pages, Vec::new()).await.unwrap());
    }

    async fn ask(&self, mode: Mode, text: &str) -> QueryResult {
        let query = Query { text: text.to_owned(), limit: 20, mode, ..Query::default() };
        self.search.find(query).await.unwrap()
    }

    /// The ids of the hits, best first.
    async fn ids(&self, mode: Mode, text: &str) -> Vec<String> {
        self.ask(mode, text).await.hits.iter().map(|hit| hit.facts.id.clone()).collect()
    }

    #[track_caller]
    fn check(&self, mode: Mode, text: &str, expected: &[&str]) -> impl Future<Output = ()> {
        let place = std::panic::Location::caller();
        async move {
            let mut found = self.ids(mode, text).await;
            found.sort();
            assert_eq!(found, expected, "{mode:?} {text:?} at {place}");
        }
    }

    async fn status(&self) -> Status {
        self.search.status().await.unwrap()
    }

    /// Waits until every chunk is embedded and the model is active.
    async fn filled(&self) {
        until("vectors are complete", async || {
            let status = self.status().await;
            let is_active = status.model.is_some() && status.pending == 0;
            is_active && status.state == crate::State::Ready
        })
        .await;
        let opened = self.search.opened().await.unwrap();
        until("the model is active in the database", async || {
            let index = opened.index;
            let active = opened.db.read(move |tx| lyceum_store::vectors::active(tx, index)).await.unwrap();
            active.is_some() && active == opened.active().map(|active| active.model)
        })
        .await;
        // The cache follows the database.
        tokio::task::spawn_blocking(move || opened.follow()).await.unwrap().unwrap();
    }
}

/// Polls a condition, with a timeout.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..1_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("timed out waiting until {what}");
}

pub(crate) fn page(id: &str, title: &str, body: &str) -> Page {
    let facts = Facts {
        id: id.to_owned(),
        content_type: "guide".to_owned(),
        kind: Kind::Prose,
        title: title.to_owned(),
        description: String::new(),
        path: format!("guides/{id}.md"),
        url: None,
        commit_sha: "0123456".to_owned(),
        synced_at: Timestamp::from_second(1_700_000_000).unwrap(),
        group: None,
        release: None,
        status: None,
        tags: Vec::new(),
        date: None,
        language: None,
        aliases: Vec::new(),
    };
    let version = format!("{title}{}", body.len());
    Page { facts, version, about: String::new(), body: body.to_owned(), first_line: 1 }
}

/// Pages about cars, boats and bread. The fake model takes an automobile for a car and a loaf for bread.
fn library() -> Vec<Page> {
    vec![
        page("cars", "Driving", "# Driving\n\nEvery car has four wheels and one motor."),
        page("boats", "Sailing", "# Sailing\n\nBoats have sails and no wheels at all."),
        page("bread", "Baking", "# Baking\n\nBread wants flour, water, salt and patience."),
    ]
}

/// A page with one section and chunk per word.
fn sections(id: &str, words: &[&str]) -> Page {
    let filler = "and then some more of the usual words about nothing in particular here ".repeat(5);
    let body = words.iter().map(|word| format!("## About {word}\n\n{word} {filler}\n\n")).collect::<String>();
    page(id, id, &body)
}

fn versions(pages: &[Page]) -> HashMap<String, String> {
    pages.iter().map(|page| (page.facts.key(), page.version.clone())).collect()
}
