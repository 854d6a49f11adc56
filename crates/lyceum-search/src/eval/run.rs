//! A run: every question asked as a caller asks it, and what came judged.

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

/// How many results are asked for as a caller asks: what nDCG and MRR look at.
const NDCG_DEPTH: usize = 10;

/// How far is looked for all answers.
const RECALL_DEPTH: usize = 100;

/// Within how many results one must be, for a glance to be enough.
const SUCCESS_DEPTH: usize = 3;

/// How many questions are asked before time is taken.
const WARM_UP_QUERIES: usize = 5;

/// How often is looked whether all vectors are there.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How long nothing may change while vectors are made or a model is fetched.
const STALL_TIMEOUT: Duration = Duration::from_secs(600);

/// What a run found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The set.
    pub set: String,
    /// When it was.
    pub at: Timestamp,
    /// How many documents were searched.
    pub documents: i64,
    /// How many passages they have.
    pub chunks: i64,
    /// The model, where meaning was searched.
    pub model: Option<Identity>,
    /// Each way of finding.
    pub stages: Vec<Stage>,
}

/// One way of finding, over all questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// Which it is.
    pub mode: Mode,
    /// The mean of nDCG@10.
    pub ndcg: Mean,
    /// The mean of the reciprocal rank within ten.
    pub mrr: Mean,
    /// The mean of recall@100.
    pub recall: Mean,
    /// The share of questions with an answer among the first three.
    pub hit: Mean,
    /// How long answers took.
    pub latency: Latency,
    /// Why answers were poorer than they could be, or were refused; each reason once.
    pub problems: Vec<String>,
    /// Each question.
    pub questions: Vec<QueryScore>,
}

/// What became of a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryScore {
    /// Its id.
    pub id: String,
    /// The question itself.
    pub text: String,
    /// nDCG@10.
    pub ndcg: f64,
    /// The reciprocal rank within ten.
    pub reciprocal_rank: f64,
    /// Recall@100.
    pub recall: f64,
    /// One where an answer is among the first three.
    pub hit: f64,
    /// How long the answer took, in milliseconds.
    pub ms: f64,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The search mode.
    pub mode: Mode,
    /// How many questions have been asked.
    pub done: usize,
    /// Of how many.
    pub of: usize,
}

impl Stage {
    /// What the questions come to.
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

/// Asks every question in each of the ways.
pub async fn run(
    search: &Search,
    set: &Set,
    modes: &[Mode],
    mut say: impl FnMut(Progress),
) -> Result<Report, Error> {
    let status = search.status().await?;
    let opened = search.opened().await?;
    let mut stages = Vec::with_capacity(modes.len());
    for &mode in modes {
        for question in set.questions.iter().take(WARM_UP_QUERIES) {
            let _unmeasured = run_query(search, question, mode).await;
        }
        // Nor may a question be quick because it was asked before.
        search.query_vectors.clear();
        let (mut scored, mut problems) = (Vec::with_capacity(set.questions.len()), Vec::new());
        for (done, question) in (1..).zip(&set.questions) {
            let (score, problem) = run_query(search, question, mode).await?;
            scored.push(score);
            problems.extend(problem.filter(|problem| !problems.contains(problem)));
            say(Progress { mode, done, of: set.questions.len() });
        }
        stages.push(Stage::of(mode, scored, problems));
    }
    let model = opened.active().filter(|_| modes.iter().any(|mode| *mode != Mode::Lexical));
    let model = model.map(|active| active.embedder.identity().clone());
    let Status { documents, chunks, .. } = status;
    Ok(Report { set: set.name.clone(), at: Timestamp::now(), documents, chunks, model, stages })
}

/// Asks as a caller does, then looks further for what else could have been found.
async fn run_query(
    search: &Search,
    question: &Question,
    mode: Mode,
) -> Result<(QueryScore, Option<String>), Error> {
    let Question { id, text, filter, expected } = question;
    let query = Query { text: text.clone(), filter: filter.clone(), limit: NDCG_DEPTH, mode, facets: false };
    let unanswered = QueryScore { id: id.clone(), text: text.clone(), ..QueryScore::default() };
    let answer = match search.find(query.clone()).await {
        Ok(answer) => answer,
        // What is refused is not found.
        Err(Error::Query(reason)) => return Ok((unanswered, Some(reason))),
        Err(error) => return Err(error),
    };
    let mut found: Vec<(Arc<Facts>, f32)> =
        answer.hits.into_iter().map(|hit| (hit.facts, hit.rerank_score.unwrap_or(hit.score))).collect();
    // What was shown stays first, in the order it was shown in: a reranker may have changed it.
    let shown: HashSet<String> = found.iter().map(|(facts, _)| facts.key()).collect();
    let ranked = search.rank(query, RECALL_DEPTH).await?;
    let ranked = ranked.into_iter().filter(|one| !shown.contains(&one.facts.key()));
    found.extend(ranked.map(|one| (one.facts, one.score)));
    let judged = both_ways(&found).map(|found| expected.judge(found));
    let mean = |measure: &dyn Fn(&JudgedResults) -> f64| judged.iter().map(measure).sum::<f64>() / 2.0;
    let scored = QueryScore {
        ndcg: mean(&|judged| judged.ndcg(NDCG_DEPTH)),
        reciprocal_rank: mean(&|judged| judged.reciprocal_rank(NDCG_DEPTH)),
        recall: mean(&|judged| judged.recall(RECALL_DEPTH)),
        hit: mean(&|judged| judged.hit(SUCCESS_DEPTH)),
        ms: answer.took.as_secs_f64() * 1000.0,
        ..unanswered
    };
    Ok((scored, answer.degraded))
}

/// Pages of one score have no order of their own, so they are judged in both: else a set with twins in it would reward
/// whoever happens to keep the order of its files.
fn both_ways(found: &[(Arc<Facts>, f32)]) -> [Vec<&Facts>; 2] {
    let twins = found.chunk_by(|(_, a), (_, b)| a.total_cmp(b).is_eq());
    [
        found.iter().map(|(facts, _)| facts.as_ref()).collect(),
        twins.flat_map(|twins| twins.iter().rev()).map(|(facts, _)| facts.as_ref()).collect(),
    ]
}

/// Waits until every passage has its vector and answers are found by them; says why where that can't be.
///
/// [`Search::keep_open`] and [`Search::keep_embedded`] have to be at work.
pub async fn until_embedded(search: &Search, mut say: impl FnMut(&Status)) -> Result<(), String> {
    let opened = search.opened().await.map_err(|error| error.to_string())?;
    let mut changed = tokio::time::Instant::now();
    let mut before = None;
    loop {
        let model = search.model.borrow().clone();
        let status = search.status().await.map_err(|error| error.to_string())?;
        say(&status);
        match &model {
            ModelStatus::Off => return Ok(()),
            ModelStatus::Failed(failure) => return Err(failure.detail.clone()),
            ModelStatus::Preparing => {}
            ModelStatus::Ready => {
                let wanted = search.wanted.load(Ordering::Relaxed);
                let used = opened.active().map(|active| active.model);
                if status.state == State::Ready && status.pending == 0 && used == Some(wanted) {
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
    // The last of them are saved a moment before they are in memory.
    let followed = tokio::task::spawn_blocking(move || opened.follow());
    let followed = followed.await.map_err(|error| error.to_string())?;
    followed.map_err(|error| error.to_string())
}
