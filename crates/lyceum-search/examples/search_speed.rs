//! How long questions take on 2,000 pages of ten chunks, alone and while everything is changed beneath them. With a number,
//! on so many pages.
#![expect(
    clippy::disallowed_methods,
    reason = "it ends with its measurements, and nobody waits for its tasks"
)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement, not a product"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use jiff::Timestamp;
use lyceum_models::embedder::{EmbedError, Embedder, Identity, Pooling, Purpose};
use lyceum_search::{Facts, Filter, Kind, Mode, Options, Page, Query, Search, State};
use tokio_util::sync::CancellationToken;

/// A model that takes no time: what is measured is everything around it.
#[derive(Debug)]
struct Quick(Identity);

#[async_trait]
impl Embedder for Quick {
    fn identity(&self) -> &Identity {
        &self.0
    }

    async fn embed(&self, _: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &String| {
            let mut state = text
                .bytes()
                .fold(1_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            (0..self.0.dimensions)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    f32::from(u16::try_from(state >> 48).unwrap()) / 32_768.0 - 1.0
                })
                .collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn connect(settings: String) -> Result<Arc<dyn Embedder>, EmbedError> {
    Ok(Arc::new(Quick(Identity {
        kind: "local".to_owned(),
        name: settings,
        sha256: None,
        pooling: Pooling::Mean,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        dimensions: 384,
        max_tokens: 256,
    })))
}

fn page(number: usize, round: usize) -> Page {
    let section = |part: usize| {
        let words =
            (0..70).map(|at| format!("word{} ", (number * 37 + part * 101 + at * at * 13 + round) % 8_000));
        format!("## Part {part}\n\n{}\n\n", words.collect::<String>())
    };
    let facts = Facts {
        id: format!("p{number}"),
        content_type: if number.is_multiple_of(100) { "rare" } else { "usual" }.to_owned(),
        kind: Kind::Prose,
        title: format!("Page {number}"),
        description: String::new(),
        path: format!("docs/p{number}.md"),
        url: None,
        commit_sha: String::new(),
        synced_at: Timestamp::UNIX_EPOCH,
        group: None,
        release: None,
        status: None,
        tags: Vec::new(),
        date: None,
    };
    Page {
        facts,
        version: round.to_string(),
        body: (0..10).map(section).collect(),
        about: String::new(),
        first_line: 1,
    }
}

fn open(folder: &std::path::Path, model: &str, stop: &CancellationToken) -> Arc<Search> {
    let search = Arc::new(Search::new(Options {
        folder: folder.to_owned(),
        embedder: Some(model.to_owned()),
        connect: Arc::new(|settings| Box::pin(async move { connect(settings) })),
        reranker: None,
    }));
    tokio::spawn(search.clone().keep_open(stop.clone()));
    tokio::spawn(search.clone().keep_embedded(stop.clone()));
    search
}

async fn filled(search: &Search, model: &str) {
    loop {
        let status = search.status().await.unwrap();
        if status.state == State::Ready && status.pending == 0 && status.model.as_deref() == Some(model) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Asks so many questions, or until somebody is done, and says how long they took.
async fn measure(
    label: &str,
    search: &Search,
    mode: Mode,
    filter: Filter,
    count: usize,
    until: &CancellationToken,
) {
    let mut times = Vec::new();
    for number in 0..count {
        if until.is_cancelled() {
            break;
        }
        let text = format!("word{} word{} part {}", number * 7 % 8_000, number * 11 % 8_000, number % 10);
        let query = Query { text, filter: filter.clone(), limit: 10, mode, facets: false };
        let begun = Instant::now();
        let answer = search.find(query).await.unwrap();
        times.push(begun.elapsed());
        assert!(!answer.hits.is_empty());
    }
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 1_000];
    println!(
        "{label}: {} questions, p50 {:.2?}, p99 {:.2?}, longest {:.2?}",
        times.len(),
        at(500),
        at(990),
        at(1_000)
    );
}

#[tokio::main]
async fn main() {
    let folder = std::env::temp_dir().join(format!("search-speed-{}", std::process::id()));
    let (stop, never) = (CancellationToken::new(), CancellationToken::new());
    let search = open(&folder, "one", &stop);
    let count: usize = std::env::args().nth(1).map_or(2_000, |count| count.parse().unwrap());
    let begun = Instant::now();
    search.apply("docs", (0..count).map(|number| page(number, 0)).collect(), Vec::new()).await.unwrap();
    println!("{count} pages were searchable by words after {:.2?}", begun.elapsed());
    let begun = Instant::now();
    filled(&search, "one").await;
    println!(
        "{} chunks had their vectors after {:.2?}",
        search.status().await.unwrap().chunks,
        begun.elapsed()
    );
    let rare = Filter { content_types: vec!["rare".to_owned()], ..Filter::default() };
    measure("lexical", &search, Mode::Lexical, Filter::default(), 1_000, &never).await;
    measure("lexical, 99 % filtered out", &search, Mode::Lexical, rare.clone(), 1_000, &never).await;
    measure("hybrid", &search, Mode::Hybrid, Filter::default(), 1_000, &never).await;
    measure("hybrid, 99 % filtered out", &search, Mode::Hybrid, rare, 1_000, &never).await;

    let done = CancellationToken::new();
    let asking = {
        let (search, done) = (search.clone(), done.clone());
        tokio::spawn(async move {
            measure(
                "hybrid, while all is changed",
                &search,
                Mode::Hybrid,
                Filter::default(),
                usize::MAX,
                &done,
            )
            .await;
        })
    };
    // More at once than is taken in one by one, so that memory is made anew; then vector by vector.
    for round in 1..3 {
        let pages = (0..count).map(|number| page(number, round)).collect();
        search
            .apply("docs", pages, (0..50).map(|number| format!("usual/none{number}")).collect())
            .await
            .unwrap();
    }
    filled(&search, "one").await;
    done.cancel();
    asking.await.unwrap();
    stop.cancel();
    drop(search);
    tokio::time::sleep(Duration::from_secs(1)).await;

    let stop = CancellationToken::new();
    let begun = Instant::now();
    let search = open(&folder, "two", &stop);
    search.find(Query { text: "word1".to_owned(), limit: 1, ..Query::default() }).await.unwrap();
    println!("opened again after {:.2?}", begun.elapsed());
    let done = CancellationToken::new();
    let asking = {
        let (search, done) = (search.clone(), done.clone());
        tokio::spawn(async move {
            measure(
                "both, while the model is exchanged",
                &search,
                Mode::Hybrid,
                Filter::default(),
                usize::MAX,
                &done,
            )
            .await;
        })
    };
    filled(&search, "two").await;
    done.cancel();
    asking.await.unwrap();
    stop.cancel();
    std::fs::remove_dir_all(folder).unwrap();
}
