//! A tiny cross-encoder with random weights, in the layout of bge-reranker-base.

use std::{fs, time::Duration};

use tempfile::TempDir;

use super::LocalReranker;
use crate::{
    model::{
        Variant,
        convert::{
            Task,
            tests::{Kind, write_model},
        },
    },
    reranker::{RerankError, Reranker},
};

const TIMEOUT: Duration = Duration::from_secs(60);

fn open(kind: Kind, variant: Variant, budget: Duration) -> Result<LocalReranker, RerankError> {
    let folder = TempDir::new().unwrap();
    write_model(folder.path(), kind, variant, Task::Relevance);
    LocalReranker::open(folder.path(), 2, budget)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn each_passage_gets_a_score_of_its_own() {
    for kind in [Kind::Bert, Kind::XlmR] {
        let reranker = open(kind, Variant::Int8, TIMEOUT).unwrap();
        let scores = reranker.score("a tool", &texts(&["library", "b c d", "", "🦀"])).await.unwrap();
        assert_eq!(scores.len(), 4);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
        assert_ne!(scores[0], scores[1]);
        // A score depends on the query, not on the other passages.
        let alone = reranker.score("a tool", &texts(&["b c d"])).await.unwrap();
        assert_eq!(alone[0], scores[1]);
        let other = reranker.score("d", &texts(&["b c d"])).await.unwrap();
        assert_ne!(other[0], scores[1]);
    }
}

#[tokio::test]
async fn a_long_pair_is_cut() {
    let reranker = open(Kind::XlmR, Variant::Fp32, TIMEOUT).unwrap();
    let long = "a tool library ".repeat(20_000);
    let scores = reranker.score(&long, &texts(&[&long])).await.unwrap();
    assert_eq!(scores.len(), 1);
}

#[tokio::test]
async fn a_reranker_that_has_no_time_left_says_so() {
    let reranker = open(Kind::Bert, Variant::Fp32, Duration::ZERO).unwrap();
    let result = reranker.score("a", &texts(&["b"; 50])).await;
    assert!(matches!(result, Err(RerankError::Timeout(_))), "{result:?}");
}

#[test]
fn an_embedder_is_not_taken_for_a_reranker() {
    let folder = TempDir::new().unwrap();
    write_model(folder.path(), Kind::Bert, Variant::Fp32, Task::TokenVectors);
    let error = LocalReranker::open(folder.path(), 1, TIMEOUT).unwrap_err();
    assert!(error.to_string().contains("it has none of the outputs logits"), "{error}");
    fs::write(folder.path().join("model.onnx"), "no model").unwrap();
    assert!(matches!(LocalReranker::open(folder.path(), 1, TIMEOUT), Err(RerankError::Model(_))));
}
