//! What a search answers, the same at every door.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use lyceum_search::{Answer, Facets, Hit, Search, Searched};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Document, Knowledge};

/// The knowledge base together with what finds things in it.
#[derive(Debug, Clone)]
pub struct Finder {
    /// The knowledge base.
    pub knowledge: Arc<Knowledge>,
    /// What finds.
    pub search: Arc<Search>,
}

/// The answer to a question.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FoundAll {
    /// What was found, the best first.
    pub results: Vec<Found>,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
    /// Why the answer is poorer than it could be; null where it is not.
    pub degraded: Option<String>,
    /// The question as it was perhaps meant, where it has a word that no document has.
    #[serde(rename = "didYouMean", skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
    /// How many documents share words with the question, by type, group, tag and so on, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<FacetCounts>,
    /// What was searched, where nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched: Option<Extent>,
}

/// A document that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// The id, unique within the type.
    pub id: String,
    /// The type.
    pub content_type: String,
    /// The title.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// The score that it was ordered by: words and meaning together.
    pub score: f32,
    /// The reranker's score, where there is a reranker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f32>,
    /// The passage that fits best, with the words of the question in `**`.
    pub snippet: String,
    /// The headings around the passage.
    pub heading: String,
    /// The source it comes from.
    pub source: String,
    /// Its file in the source.
    pub path: String,
    /// The first and the last line of the passage in the file.
    pub lines: [i64; 2],
    /// Where the passage can be seen at that commit, if it can.
    pub url: Option<String>,
    /// The commit that it was brought in with; for a folder, what stands for one.
    pub commit_sha: String,
    /// When that was.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub synced_at: Timestamp,
    /// What each stage said of it, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explained>,
    /// The whole document, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
}

/// What each stage of a search said of a document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Explained {
    /// What its words are worth (BM25); nothing where it shares none with the question.
    pub words: Option<f32>,
    /// How near its nearest passage is, as a cosine; nothing where it has no vector.
    pub meaning: Option<f32>,
    /// The place it had before reranking, from 1 on.
    pub place: usize,
}

/// How many documents there are of each.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FacetCounts {
    content_type: BTreeMap<String, usize>,
    group: BTreeMap<String, usize>,
    tag: BTreeMap<String, usize>,
    release: BTreeMap<String, usize>,
    status: BTreeMap<String, usize>,
    source: BTreeMap<String, usize>,
}

/// What was searched, and how fresh it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Extent {
    /// How many documents the filters left.
    pub documents: usize,
    /// The sources they are from.
    pub sources: Vec<String>,
    /// When the newest of them was brought in.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub synced_at: Option<Timestamp>,
}

impl FoundAll {
    /// The answer as it is sent.
    pub fn of(answer: Answer, explain: bool) -> Self {
        let Answer { hits, took, degraded, suggestion, facets, searched } = answer;
        let searched = hits.is_empty().then(|| {
            let Searched { documents, sources, synced_at } = searched;
            Extent { documents, sources, synced_at }
        });
        Self {
            results: hits.into_iter().map(|hit| found(hit, explain)).collect(),
            took_ms: (took.as_secs_f64() * 100_000.0).round() / 100.0,
            degraded,
            did_you_mean: suggestion,
            facets: facets.map(counts),
            searched,
        }
    }
}

fn found(hit: Hit, explain: bool) -> Found {
    let Hit { source, facts, score, rerank_score, snippet, heading, lines: (first, last), stages } = hit;
    let facts = Arc::unwrap_or_clone(facts);
    // The lines can be named where the address is one of a file on the web.
    let url = facts.url.map(|url| if url.contains('#') { url } else { format!("{url}#L{first}-L{last}") });
    Found {
        id: facts.id,
        content_type: facts.content_type,
        title: facts.title,
        description: facts.description,
        score,
        rerank_score,
        snippet,
        heading,
        source: source.to_string(),
        path: facts.path,
        lines: [first, last],
        url,
        commit_sha: facts.commit_sha,
        synced_at: facts.synced_at,
        explain: explain.then_some(Explained {
            words: stages.words,
            meaning: stages.meaning,
            place: stages.place,
        }),
        document: None,
    }
}

fn counts(facets: Facets) -> FacetCounts {
    let Facets { content_types, groups, tags, releases, statuses, sources } = facets;
    FacetCounts {
        content_type: content_types,
        group: groups,
        tag: tags,
        release: releases,
        status: statuses,
        source: sources,
    }
}
