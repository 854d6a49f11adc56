//! Runs a test set: every query as a caller sends it, results scored.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use jiff::Timestamp;
use lyceum_models::embedder::Identity;
use serde::{Deserialize, Serialize};

use super::{JudgedResults, Latency, Mean, Question, Set};
use crate::{
    embed_queue::ModelStatus,
    error::Error,
    find::{Mode, Query},
    page::Facts,
    search::{Search, State, Status},
};

/// Cut-off of nDCG and MRR; the number of results a caller typically requests.
const NDCG_DEPTH: usize = 10;

/// Cut-off of recall.
const RECALL_DEPTH: usize = 100;

/// Cut-off of the hit rate.
const SUCCESS_DEPTH: usize = 3;

/// Queries run before latency is measured.
const WARM_UP_QUERIES: usize = 5;

/// How often to check whether embedding is complete.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Give up if nothing changes for this long during embedding or model download.
const STALL_TIMEOUT: Duration = Duration::from_secs(600);

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The test set.
    pub set: String,
    /// Time of the run.
    pub at: Timestamp,
    /// Number of documents in the index.
    pub documents: i64,
    /// Number of chunks in the index.
    pub chunks: i64,
    /// The embedding model, if any mode used it.
    pub model: Option<Identity>,
    /// Scores by search mode.
    pub stages: Vec<Stage>,
}

/// Scores of one search mode over all queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// The search mode.
    pub mode: Mode,
    /// Mean nDCG@10.
    pub ndcg: Mean,
    /// MRR@10.
    pub mrr: Mean,
    /// Mean recall@100.
    pub recall: Mean,
    /// Hit rate @3.
    pub hit: Mean,
    /// Query latency.
    pub latency: Latency,
    /// Distinct reasons for degraded or rejected queries.
    pub problems: Vec<String>,
    /// Scores by query.
    pub questions: Vec<QueryScore>,
}

/// Scores of one query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryScore {
    /// Query id.
    pub id: String,
    /// Query text.
    pub text: String,
    /// nDCG@10.
    pub ndcg: f64,
    /// Reciprocal rank @10.
    pub reciprocal_rank: f64,
    /// Recall@100.
    pub recall: f64,
    /// Hit @3: 1 or 0.
    pub hit: f64,
    /// Latency in milliseconds.
    pub ms: f64,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The search mode.
    pub mode: Mode,
    /// Queries done.
    pub done: usize,
    /// Total queries.
    pub of: usize,
}

impl Stage {
    /// Aggregates the scores of single queries.
    pub fn of(mode: Mode, questions: Vec<QueryScore>, problems: Vec<String>) -> Self {
        let all = |value: fn(&QueryScore) -> f64| questions.iter().map(value).collect::<Vec<f64>>();
        Self {
            mode,
            ndcg: Mean::of(&all(|one| one.ndcg)),
            mrr: Mean::of(&all(|one| one.reciprocal_rank)),
            recall: Mean::of(&all(|one| one.recall)),
            hit: Mean::of(&all(|one| one.hit)),
            latency: Latency::of(all(|one| one.ms)),
            problems,
            questions,
        }
    }
}

/// Runs every query in each mode.
pub async fn run(
    search: &Search,
    set: &Set,
    modes: &[Mode],
    mut report_progress: impl FnMut(Progress),
) -> Result<Report, Error> {
    let status = search.status().await?;
    let opened = search.opened().await?;
    let mut stages = Vec::with_capacity(modes.len());
    for &mode in modes {
        for question in set.questions.iter().take(WARM_UP_QUERIES) {
            let _unmeasured = run_query(search, question, mode).await;
        }
        // The warm-up must not leave cached query vectors.
        search.query_vectors.clear();
        let (mut scored, mut problems) = (Vec::with_capacity(set.questions.len()), Vec::new());
        for (done, question) in (1..).zip(&set.questions) {
            let (score, problem) = run_query(search, question, mode).await?;
            scored.push(score);
            problems.extend(problem.filter(|problem| !problems.contains(problem)));
            report_progress(Progress { mode, done, of: set.questions.len() });
        }
        stages.push(Stage::of(mode, scored, problems));
    }
    let model = opened.active().filter(|_| modes.iter().any(|mode| *mode != Mode::Lexical));
    let model = model.map(|active| active.embedder.identity().clone());
    let Status { documents, chunks, .. } = status;
    Ok(Report { set: set.name.clone(), at: Timestamp::now(), documents, chunks, model, stages })
}

/// Runs a query as a caller does, then extends the ranking to the recall cut-off.
async fn run_query(
    search: &Search,
    question: &Question,
    mode: Mode,
) -> Result<(QueryScore, Option<String>), Error> {
    let Question { id, text, filter, expected } = question;
    let query = Query { text: text.clone(), filter: filter.clone(), limit: NDCG_DEPTH, mode, facets: false };
    let unscored = QueryScore { id: id.clone(), text: text.clone(), ..QueryScore::default() };
    let answer = match search.find(query.clone()).await {
        Ok(answer) => answer,
        // A rejected query scores zero.
        Err(Error::Query(reason)) => return Ok((unscored, Some(reason))),
        Err(error) => return Err(error),
    };
    let mut found: Vec<(Arc<Facts>, f32)> =
        answer.hits.into_iter().map(|hit| (hit.facts, hit.rerank_score.unwrap_or(hit.score))).collect();
    // The results of the caller's query come first, in their order, which a reranker may have changed.
    let shown: HashSet<String> = found.iter().map(|(facts, _)| facts.key()).collect();
    let ranked = search.rank(query, RECALL_DEPTH).await?;
    let ranked = ranked.into_iter().filter(|one| !shown.contains(&one.facts.key()));
    found.extend(ranked.map(|one| (one.facts, one.score)));
    let judged = both_tie_orders(&found).map(|found| expected.judge(found));
    let mean = |measure: &dyn Fn(&JudgedResults) -> f64| judged.iter().map(measure).sum::<f64>() / 2.0;
    let scored = QueryScore {
        ndcg: mean(&|judged| judged.ndcg(NDCG_DEPTH)),
        reciprocal_rank: mean(&|judged| judged.reciprocal_rank(NDCG_DEPTH)),
        recall: mean(&|judged| judged.recall(RECALL_DEPTH)),
        hit: mean(&|judged| judged.hit(SUCCESS_DEPTH)),
        ms: answer.took.as_secs_f64() * 1000.0,
        ..unscored
    };
    Ok((scored, answer.degraded))
}

/// The ranking with ties in both orders. Scores are averaged over the two: otherwise duplicates in a test set would
/// reward whichever order ties happen to have.
fn both_tie_orders(found: &[(Arc<Facts>, f32)]) -> [Vec<&Facts>; 2] {
    let ties = found.chunk_by(|(_, a), (_, b)| a.total_cmp(b).is_eq());
    [
        found.iter().map(|(facts, _)| facts.as_ref()).collect(),
        ties.flat_map(|ties| ties.iter().rev()).map(|(facts, _)| facts.as_ref()).collect(),
    ]
}

/// Waits until every chunk has a vector and queries use them; returns the reason if that fails.
///
/// Requires that [`Search::keep_open`] and [`Search::keep_embedded`] are running.
pub async fn until_embedded(search: &Search, mut report_progress: impl FnMut(&Status)) -> Result<(), String> {
    let opened = search.opened().await.map_err(|error| error.to_string())?;
    let mut changed = tokio::time::Instant::now();
    let mut before = None;
    loop {
        let model = search.model.borrow().clone();
        let status = search.status().await.map_err(|error| error.to_string())?;
        report_progress(&status);
        match &model {
            ModelStatus::Off => return Ok(()),
            ModelStatus::Failed(failure) => return Err(failure.detail.clone()),
            ModelStatus::Preparing => {}
            ModelStatus::Ready => {
                let target_model = search.target_model.load(Ordering::Relaxed);
                let used = opened.active().map(|active| active.model);
                if status.state == State::Ready && status.pending == 0 && used == Some(target_model) {
                    break;
                }
            }
        }
        let now = Some((model, status));
        if now != before {
            (before, changed) = (now, tokio::time::Instant::now());
        }
        if changed.elapsed() > STALL_TIMEOUT {
            return Err(format!("nothing has changed for {} s", STALL_TIMEOUT.as_secs()));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    // Vectors are stored shortly before they reach the in-memory cache.
    let followed = tokio::task::spawn_blocking(move || opened.follow());
    let followed = followed.await.map_err(|error| error.to_string())?;
    followed.map_err(|error| error.to_string())
}
