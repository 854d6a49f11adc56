//! The reranking stage with a scripted reranker.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use lyceum_models::reranker::{RerankError, Reranker};
use lyceum_store::{Db, kv::Namespace};

use super::{
    Rerank, RerankOutcome,
    cache::{Cache, key},
};

/// A scripted step.
#[derive(Debug)]
enum Step {
    Fail(RerankError),
    Answer(Vec<f32>),
    Hang,
}

/// Runs its scripted steps, then scores passages by length.
#[derive(Debug, Default)]
struct ScriptedReranker {
    next: Mutex<VecDeque<Step>>,
    calls: Mutex<Vec<Vec<String>>>,
}

#[async_trait]
impl Reranker for ScriptedReranker {
    fn identity(&self) -> &str {
        "reranker"
    }

    async fn score(&self, _: &str, passages: &[String]) -> Result<Vec<f32>, RerankError> {
        self.calls.lock().unwrap().push(passages.to_vec());
        let next = self.next.lock().unwrap().pop_front();
        match next {
            Some(Step::Fail(error)) => Err(error),
            Some(Step::Answer(scores)) => Ok(scores),
            Some(Step::Hang) => std::future::pending().await,
            None => Ok(passages.iter().map(|passage| length(passage)).collect()),
        }
    }
}

impl ScriptedReranker {
    fn next(&self, steps: impl IntoIterator<Item = Step>) {
        self.next.lock().unwrap().extend(steps);
    }

    fn times(&self) -> usize {
        self.calls.lock().unwrap().len()
    }
}

struct Stage {
    reranker: Arc<ScriptedReranker>,
    rerank: Rerank,
    db: Db,
    _folder: tempfile::TempDir,
}

fn stage(budget: Duration) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(&folder.path().join("lyceum.db")).unwrap();
    let reranker = Arc::new(ScriptedReranker::default());
    let rerank = Rerank::new(reranker.clone(), db.clone(), budget);
    Stage { reranker, rerank, db, _folder: folder }
}

fn length(text: &str) -> f32 {
    f32::from(u16::try_from(text.chars().count()).unwrap())
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn two() -> Vec<String> {
    texts(&["four", "eleven char"])
}

const BUDGET: Duration = Duration::from_secs(10);

#[tokio::test]
async fn scores_are_kept_until_something_that_they_depend_on_changes() {
    let stage = stage(BUDGET);
    let check = async |query: &str, passages: &[&str], times: usize| {
        let passages = texts(passages);
        let scores = passages.iter().map(|passage| length(passage)).collect();
        assert_eq!(stage.rerank.order(query, &passages).await, RerankOutcome::Scored(scores));
        stage.rerank.flush().await;
        assert_eq!(stage.reranker.times(), times, "{query} {passages:?}");
    };
    check("hook", &["four", "eleven char"], 1).await;
    check("hook", &["four", "eleven char"], 1).await;
    check("hooks", &["four", "eleven char"], 2).await;
    check("hook", &["four", "eleven chars"], 3).await;
    check("hook", &["eleven char", "four"], 4).await;
    check("hook", &["four", "eleven char"], 4).await;
    check("hook", &[], 4).await;
}

#[test]
fn no_two_searches_have_the_same_name() {
    let names = [
        key("a", "b", &[]),
        key("ab", "", &[]),
        key("", "ab", &[]),
        key("a", "b", &texts(&[""])),
        key("a", "b", &texts(&["1"])),
        key("a", "b", &texts(&["1", ""])),
        key("a", "b", &texts(&["", "1"])),
        key("a", "b", &texts(&["1", "23"])),
        key("a", "b", &texts(&["12", "3"])),
        key("a", "b", &texts(&["23", "1"])),
    ];
    let distinct: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    assert!(names.iter().all(|name| name.len() == 64));
}

#[tokio::test]
async fn kept_scores_are_good_for_an_hour_and_only_if_they_are_whole() {
    let stage = stage(BUDGET);
    let cache = Cache::new(stage.db.clone());
    let now = Timestamp::now();
    let later = |minutes| now + SignedDuration::from_mins(minutes);
    cache.put("k".to_owned(), &[0.5, -1.5], now);
    cache.flush().await;
    assert_eq!(cache.get("k", 2, later(59), BUDGET).await, Some(vec![0.5, -1.5]));
    assert_eq!(cache.get("k", 2, later(61), BUDGET).await, None);
    assert_eq!(cache.get("k", 3, now, BUDGET).await, None);

    let scores = Namespace { name: "rerank", ttl_seconds: Some(3_600) };
    for broken in [vec![0, 0, 0], vec![0; 9], f32::NAN.to_le_bytes().repeat(2)] {
        let write = broken.clone();
        stage.db.write("test", move |tx| scores.put(tx, "k", &write, now)).await.unwrap();
        assert_eq!(cache.get("k", 2, now, BUDGET).await, None, "{broken:?}");
    }
}

#[tokio::test]
async fn what_is_past_its_hour_is_swept_away_every_ten_minutes_at_most() {
    let stage = stage(BUDGET);
    let cache = Cache::new(stage.db.clone());
    let start = Timestamp::now();
    let other = Namespace { name: "other", ttl_seconds: Some(60) };
    let is_there = async || {
        let count = |tx: &lyceum_store::Tx<'_>| {
            tx.row("SELECT 1 FROM kept WHERE key = 'old'", [], |row| row.integer(0))
        };
        stage.db.read(count).await.unwrap().is_some()
    };
    cache.put("a".to_owned(), &[1.0], start);
    cache.flush().await;
    stage.db.write("test", move |tx| other.put(tx, "old", b"x", start)).await.unwrap();
    for (minutes, expected) in [(5, true), (9, true), (10, false)] {
        cache.put("b".to_owned(), &[1.0], start + SignedDuration::from_mins(minutes));
        cache.flush().await;
        assert_eq!(is_there().await, expected, "{minutes}");
    }
}

#[tokio::test]
async fn only_the_first_twenty_are_scored_and_only_their_beginning_is_read() {
    let stage = stage(BUDGET);
    let mut many = vec!["text".to_owned(); 30];
    many[0] = "word ".repeat(2_000);
    let RerankOutcome::Scored(scores) = stage.rerank.order("hook", &many).await else { panic!("no scores") };
    assert_eq!(scores.len(), 20);
    let calls = stage.reranker.calls.lock().unwrap();
    assert_eq!((calls.len(), calls[0].len()), (1, 20));
    assert!(calls[0][0].len() <= 8_003 && calls[0][0].ends_with("word..."), "{}", calls[0][0].len());
}

#[tokio::test]
async fn a_reranker_that_fails_leaves_the_order_and_says_why_without_detail() {
    let check = async |reranker: Step, expected: &str| {
        let stage = stage(Duration::from_millis(200));
        stage.reranker.next([reranker]);
        let RerankOutcome::Unavailable(reason) = stage.rerank.order("hook", &two()).await else {
            panic!("scores: {expected}")
        };
        assert_eq!(reason, expected);
        assert!(matches!(stage.rerank.order("hook", &two()).await, RerankOutcome::Scored(_)), "{expected}");
    };
    let detail = || "10.0.0.7 is full".to_owned();
    check(Step::Fail(RerankError::Model(detail())), "the reranker can't be used").await;
    check(Step::Fail(RerankError::Unreachable(detail())), "the reranker can't be reached").await;
    let refused = RerankError::Refused { status: 401, message: detail() };
    check(Step::Fail(refused), "the reranker refused (status 401)").await;
    let malformed = "the reranker returned an invalid response";
    check(Step::Fail(RerankError::Malformed(detail())), malformed).await;
    check(Step::Answer(vec![1.0]), malformed).await;
    check(Step::Answer(vec![1.0, f32::NAN]), malformed).await;
    check(Step::Hang, "the reranker did not answer within 200 ms").await;
}

#[tokio::test]
async fn after_three_failures_in_a_row_it_is_left_alone() {
    let stage = stage(BUDGET);
    let fail = || Step::Fail(RerankError::Unreachable("gone".to_owned()));
    let ask = async || stage.rerank.order("hook", &two()).await;
    stage.reranker.next([fail(), fail(), Step::Answer(vec![1.0, 2.0])]);
    ask().await;
    ask().await;
    assert_eq!(ask().await, RerankOutcome::Scored(vec![1.0, 2.0]), "two failures are not three");
    stage.rerank.flush().await;

    stage.reranker.next([fail(), fail(), fail()]);
    let other = async |query: &str| stage.rerank.order(query, &two()).await;
    for query in ["a", "b", "c"] {
        assert_eq!(
            other(query).await,
            RerankOutcome::Unavailable("the reranker can't be reached".to_owned())
        );
    }
    let breaker_open = "the reranker keeps failing; the next attempt is in 30 s";
    for query in ["d", "e"] {
        assert_eq!(other(query).await, RerankOutcome::Unavailable(breaker_open.to_owned()));
    }
    assert_eq!(stage.reranker.times(), 6);
    assert_eq!(ask().await, RerankOutcome::Scored(vec![1.0, 2.0]), "cached scores are still used");
}

#[tokio::test]
async fn one_that_is_still_being_loaded_has_not_failed() {
    let stage = stage(BUDGET);
    stage.reranker.next((0..4).map(|_| Step::Fail(RerankError::Loading)));
    for _ in 0..4 {
        let expected = RerankOutcome::Unavailable("the reranker is still being loaded".to_owned());
        assert_eq!(stage.rerank.order("hook", &two()).await, expected);
    }
    assert!(matches!(stage.rerank.order("hook", &two()).await, RerankOutcome::Scored(_)));
}
