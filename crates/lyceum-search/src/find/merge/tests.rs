//! Merging the results of several indexes.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use super::*;
use crate::{
    find::Stages,
    page::{Facts, Kind},
};

fn hit(id: &str, bm25: Option<f32>, cosine: Option<f32>) -> Hit {
    let facts = Facts {
        id: id.to_owned(),
        content_type: "file".to_owned(),
        kind: Kind::Prose,
        title: id.to_owned(),
        description: String::new(),
        path: format!("{id}.md"),
        url: None,
        commit_sha: String::new(),
        synced_at: Timestamp::UNIX_EPOCH,
        group: None,
        release: None,
        status: None,
        tags: Vec::new(),
        date: None,
        language: id.strip_suffix("-de").map(|_| "de".to_owned()),
        aliases: Vec::new(),
    };
    Hit {
        source: Arc::from("kb"),
        facts: Arc::new(facts),
        score: 1.0,
        rerank_score: None,
        snippet: String::new(),
        heading: String::new(),
        lines: (1, 1),
        stages: Stages { bm25, cosine, rank: 1 },
    }
}

fn result(origin: &'static str, idf_mass: f32, hits: Vec<Hit>) -> IndexResult<&'static str> {
    let result = QueryResult {
        hits,
        took: Duration::ZERO,
        degraded: None,
        suggestion: None,
        facets: None,
        searched: IndexCoverage { documents: 3, sources: vec![origin.to_owned()], synced_at: None },
    };
    IndexResult { origin, result, idf_mass }
}

#[track_caller]
fn check(results: Vec<IndexResult<&'static str>>, expected: &[&str]) {
    let merged = merge("how to restore a backup", results, 5);
    let order: Vec<&str> = merged.hits.iter().map(|(_, hit)| hit.facts.id.as_str()).collect();
    assert_eq!(order, expected, "{:?}", merged.hits);
    let ranks: Vec<usize> = merged.hits.iter().map(|(_, hit)| hit.stages.rank).collect();
    assert_eq!(ranks, (1..=expected.len()).collect::<Vec<_>>());
}

#[test]
fn bm25_counts_by_the_share_of_the_query_it_explains() {
    // Every term in the small index, one rare term in the large one.
    let small = result("small", 6.0, vec![hit("whole", Some(6.0), None)]);
    let large = result("large", 24.0, vec![hit("part", Some(9.0), None)]);
    check(vec![large, small], &["whole", "part"]);
}

#[test]
fn cosines_of_two_indexes_compare() {
    let one = result("one", 6.0, vec![hit("near", None, Some(0.8)), hit("far", None, Some(0.2))]);
    let other = result("other", 6.0, vec![hit("middle", None, Some(0.5))]);
    check(vec![one, other], &["near", "middle", "far"]);
}

#[test]
fn hits_without_vectors_are_in_the_middle() {
    let embedded =
        result("embedded", 6.0, vec![hit("near", Some(6.0), Some(0.9)), hit("far", Some(1.0), Some(0.1))]);
    let pending = result("pending", 6.0, vec![hit("unknown", Some(3.0), None)]);
    check(vec![embedded, pending], &["near", "unknown", "far"]);
}

#[test]
fn documents_in_another_language_are_below_equally_good_ones() {
    let german = result("german", 6.0, vec![hit("backup-de", Some(6.0), Some(0.8))]);
    let english = result("english", 6.0, vec![hit("backup", Some(6.0), Some(0.8))]);
    check(vec![german, english], &["backup", "backup-de"]);
}

#[test]
fn a_reranker_has_the_last_word() {
    let reranked = |id, score, bm25| Hit { rerank_score: Some(score), ..hit(id, Some(bm25), None) };
    let one = result("one", 6.0, vec![reranked("loud", 0.1, 6.0)]);
    let other = result("other", 6.0, vec![reranked("right", 0.9, 1.0)]);
    let merged = merge("backup", vec![one, other], 5);
    let order: Vec<(&str, usize)> =
        merged.hits.iter().map(|(_, hit)| (hit.facts.id.as_str(), hit.stages.rank)).collect();
    assert_eq!(order, [("right", 2), ("loud", 1)]);
}

#[test]
fn a_word_that_one_index_contains_is_not_corrected() {
    let suggest = |mut one: IndexResult<&'static str>, suggestion: Option<&str>| {
        one.result.suggestion = suggestion.map(str::to_owned);
        one
    };
    let merged = |first, second| {
        let results = vec![
            suggest(result("one", 1.0, Vec::new()), first),
            suggest(result("other", 1.0, Vec::new()), second),
        ];
        merge("kubernetis", results, 5).suggestion
    };
    assert_eq!(merged(Some("kubernetes"), None), None);
    assert_eq!(merged(Some("kubernetes"), Some("kubernetes")).as_deref(), Some("kubernetes"));
}

#[test]
fn without_hits_it_says_what_was_searched() {
    let merged = merge("x", vec![result("one", 1.0, Vec::new()), result("other", 1.0, Vec::new())], 5);
    assert!(merged.hits.is_empty());
    assert_eq!(merged.searched.documents, 6);
    assert_eq!(merged.searched.sources, ["one", "other"]);
}
