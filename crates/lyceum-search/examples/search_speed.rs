//! Measures query latency on 2,000 pages of ten chunks, idle and during concurrent writes. An optional argument sets
//! the number of pages.
#![expect(clippy::disallowed_methods, reason = "tasks end with the process; nothing waits for them")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark, not shipped code"
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

/// An embedder with no latency, so that only the search code is measured.
#[derive(Debug)]
struct InstantEmbedder(Identity);

#[async_trait]
impl Embedder for InstantEmbedder {
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
    Ok(Arc::new(InstantEmbedder(Identity {
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
        language: None,
        aliases: Vec::new(),
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
        shared: None,
        folder: folder.to_owned(),
        embedder: Some(model.to_owned()),
        connect: Arc::new(|settings| Box::pin(async move { connect(settings) })),
        reranker: None,
    }));
    tokio::spawn(search.clone().keep_open(stop.clone()));
    tokio::spawn(search.clone().keep_embedded(stop.clone()));
    search
}

async fn wait_until_embedded(search: &Search, model: &str) {
    loop {
        let status = search.status().await.unwrap();
        if status.state == State::Ready && status.pending == 0 && status.model.as_deref() == Some(model) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs `count` queries, or until `stop` is cancelled, and prints latency quantiles.
async fn measure(
    label: &str,
    search: &Search,
    mode: Mode,
    filter: Filter,
    count: usize,
    stop: &CancellationToken,
) {
    let mut times = Vec::new();
    for number in 0..count {
        if stop.is_cancelled() {
            break;
        }
        let text = format!("word{} word{} part {}", number * 7 % 8_000, number * 11 % 8_000, number % 10);
        let query = Query { text, filter: filter.clone(), limit: 10, mode, facets: false };
        let started = Instant::now();
        let answer = search.find(query).await.unwrap();
        times.push(started.elapsed());
        assert!(!answer.hits.is_empty());
    }
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 1_000];
    println!(
        "{label}: {} queries, p50 {:.2?}, p99 {:.2?}, max {:.2?}",
        times.len(),
        at(500),
        at(990),
        at(1_000)
    );
}

#[tokio::main]
async fn main() {
    let folder = std::env::temp_dir().join(format!("search-speed-{}", std::process::id()));
    let (stop, no_stop) = (CancellationToken::new(), CancellationToken::new());
    let search = open(&folder, "one", &stop);
    let count: usize = std::env::args().nth(1).map_or(2_000, |count| count.parse().unwrap());
    let started = Instant::now();
    search.apply("docs", (0..count).map(|number| page(number, 0)).collect(), Vec::new()).await.unwrap();
    println!("{count} pages in the lexical index after {:.2?}", started.elapsed());
    let started = Instant::now();
    wait_until_embedded(&search, "one").await;
    println!("{} chunks embedded after {:.2?}", search.status().await.unwrap().chunks, started.elapsed());
    let rare = Filter { content_types: vec!["rare".to_owned()], ..Filter::default() };
    measure("lexical", &search, Mode::Lexical, Filter::default(), 1_000, &no_stop).await;
    measure("lexical, 99 % filtered out", &search, Mode::Lexical, rare.clone(), 1_000, &no_stop).await;
    measure("hybrid", &search, Mode::Hybrid, Filter::default(), 1_000, &no_stop).await;
    measure("hybrid, 99 % filtered out", &search, Mode::Hybrid, rare, 1_000, &no_stop).await;

    let done = CancellationToken::new();
    let queries = {
        let (search, done) = (search.clone(), done.clone());
        tokio::spawn(async move {
            measure(
                "hybrid, while all pages are rewritten",
                &search,
                Mode::Hybrid,
                Filter::default(),
                usize::MAX,
                &done,
            )
            .await;
        })
    };
    // More changes than one incremental update takes: forces a full reload of the in-memory cache, then updates per
    // vector.
    for round in 1..3 {
        let pages = (0..count).map(|number| page(number, round)).collect();
        search
            .apply("docs", pages, (0..50).map(|number| format!("usual/none{number}")).collect())
            .await
            .unwrap();
    }
    wait_until_embedded(&search, "one").await;
    done.cancel();
    queries.await.unwrap();
    stop.cancel();
    drop(search);
    tokio::time::sleep(Duration::from_secs(1)).await;

    let stop = CancellationToken::new();
    let started = Instant::now();
    let search = open(&folder, "two", &stop);
    search.find(Query { text: "word1".to_owned(), limit: 1, ..Query::default() }).await.unwrap();
    println!("reopened after {:.2?}", started.elapsed());
    let done = CancellationToken::new();
    let queries = {
        let (search, done) = (search.clone(), done.clone());
        tokio::spawn(async move {
            measure(
                "hybrid, while the model is replaced",
                &search,
                Mode::Hybrid,
                Filter::default(),
                usize::MAX,
                &done,
            )
            .await;
        })
    };
    wait_until_embedded(&search, "two").await;
    done.cancel();
    queries.await.unwrap();
    stop.cancel();
    std::fs::remove_dir_all(folder).unwrap();
}
