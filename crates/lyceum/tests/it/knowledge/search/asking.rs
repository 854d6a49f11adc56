//! Lexical search over every transport, with every filter, and with odd queries.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{ask, eventually_answers, paths};
use crate::{
    app::{call, get},
    knowledge::stage::{Program, Stage},
};

/// Maximum latency of a query on a busy machine.
const MAX_LATENCY: Duration = Duration::from_secs(2);

const CONSENT: &str = "---\ntitle: Consent\ntype: pattern\npublish: true\ngroup: cells\nrelease: v1\ndate: 2026-02-01\n\
    tags: [governance, decisions]\n---\n\nA proposal passes unless somebody has an objection. \
    An objection is a reason why doing this stands in the way of what the cell is there for; it is not a preference, and not \
    another proposal. Whoever has one says so in the round, and the cell looks for a way around it together.\n\n## Rounds\n\nEveryone \
    speaks once before anyone speaks twice.\n";

const BAKING: &str = "---\ntitle: Sourdough\ntype: article\npublish: true\ngroup: kitchen\ndate: 2025-02-01\n\
    tags: [bread]\n---\n\nFlour, water and salt; a proposal for breakfast.\n";

/// A stage with two documents, and a program that has indexed them.
async fn stage() -> (Stage, Program) {
    let stage = Stage::empty().await;
    stage.kb.write("patterns/consent.md", CONSENT).unwrap();
    stage.kb.write("kitchen/sourdough.md", BAKING).unwrap();
    stage.kb.publish().await.unwrap();
    let program = stage.started().await;
    eventually_answers(&program, "proposal", "", |found| found.len() == 2).await;
    (stage, program)
}

#[tokio::test]
async fn an_answer_says_where_it_comes_from() {
    let (stage, program) = stage().await;
    let answer = ask(&program, "who speaks before others", "&explain=true").await;
    let one = &answer["results"][0];
    assert_eq!(one["id"], "consent");
    assert_eq!(one["contentType"], "pattern");
    assert_eq!(one["title"], "Consent");
    assert_eq!(one["path"], "patterns/consent.md");
    assert_eq!(one["heading"], "Rounds");
    assert_eq!(one["source"], "kb");
    let head = stage.kb.git(["rev-parse", "HEAD"]).unwrap();
    assert_eq!(one["commitSha"], head.trim());
    assert!(one["snippet"].as_str().unwrap().contains("**speaks** once"), "{one}");
    let [first, last] = [0, 1].map(|place| usize::try_from(one["lines"][place].as_u64().unwrap()).unwrap());
    let lines: Vec<&str> = CONSENT.lines().skip(first - 1).take(last - first + 1).collect();
    assert!(lines.iter().any(|line| line.contains("speaks once")), "{first}-{last}: {lines:?}");
    assert!(one["explain"]["bm25"].as_f64().unwrap() > 0.0);
    assert_eq!(answer["degraded"], "lexical results only: no model is configured");
}

#[tokio::test]
async fn filters_narrow_what_is_found() {
    let (_stage, program) = stage().await;
    let consent = ["patterns/consent.md".to_owned()];
    let rests = [
        "&contentType=pattern",
        "&contentType=resource",
        "&group=cells",
        "&release=v1",
        "&tag=nothing,governance",
        "&since=2026-01-01",
        "&path=patterns%2f",
    ];
    for rest in rests {
        assert_eq!(paths(&program, "proposal", rest).await, consent, "{rest}");
    }
    assert_eq!(paths(&program, "proposal", "&until=2025-02-01").await, ["kitchen/sourdough.md"]);
    assert_eq!(paths(&program, "proposal", "&source=other").await, [""; 0]);
    assert_eq!(paths(&program, "proposal", "&limit=1").await.len(), 1);
    let counted = ask(&program, "proposal", "&facets=true").await;
    assert_eq!(counted["facets"]["group"], json!({ "cells": 1, "kitchen": 1 }));
}

#[tokio::test]
async fn phrases_beginnings_and_slips_are_understood() {
    let (_stage, program) = stage().await;
    assert_eq!(paths(&program, "\"somebody has an objection\"", "").await, ["patterns/consent.md"]);
    assert_eq!(paths(&program, "\"objection somebody\"", "").await, [""; 0]);
    assert_eq!(paths(&program, "break*", "").await, ["kitchen/sourdough.md"]);
    let slip = ask(&program, "sourdouhg", "").await;
    assert_eq!(slip["didYouMean"], "sourdough");
    assert_eq!(slip["searched"]["documents"], 2);
    assert_eq!(slip["searched"]["sources"], json!(["kb"]));
}

#[tokio::test]
async fn whatever_is_typed_gets_an_answer_or_a_clear_error() {
    let (_stage, program) = stage().await;
    let odd = [
        "' OR 1=1; DROP TABLE pages; --",
        "title:(foo AND -bar) ^3 [a TO b]",
        "(a+)+$ .*.*.*",
        "\"",
        "***",
        "🙂 🙃",
        "مرحبا بالعالم",
        "what is it",
        "\\\u{202e}\u{200f}",
    ];
    for question in odd {
        let began = Instant::now();
        ask(&program, question, "").await;
        assert!(began.elapsed() < MAX_LATENCY, "{question:?} took {:?}", began.elapsed());
    }
    for (address, said) in [
        ("/api/v1/search".to_owned(), "write q="),
        ("/api/v1/search?q=".to_owned(), "is empty"),
        ("/api/v1/search?q=%20%09".to_owned(), "is empty"),
        (format!("/api/v1/search?q={}", "long+".repeat(1_000)), "longer than"),
        ("/api/v1/search?q=a&limit=21".to_owned(), "from 1 to 20"),
        ("/api/v1/search?q=a&contentType=nonsense".to_owned(), "unknown type"),
        ("/api/v1/search?q=a&since=yesterday".to_owned(), "not a date"),
        ("/api/v1/search?q=a&mode=guess".to_owned(), "must be hybrid"),
    ] {
        let answer = program.send(get(&address)).await.unwrap();
        assert_eq!(answer.status, 400, "{address:.60}");
        assert!(answer.text().contains(said), "{address:.60}: {}", answer.text());
    }
}

#[tokio::test]
async fn assistants_find_the_same_with_and_without_documents() {
    let (_stage, program) = stage().await;
    let found = call("search_knowledge", &json!({ "query": "objection", "filters": { "limit": 1 } }));
    let found = program.send(found).await.unwrap().result()["structuredContent"].clone();
    assert_eq!(found["results"][0]["id"], "consent");
    assert!(found["results"][0].get("document").is_none());
    let whole = call("search_with_documents", &json!({ "query": "objection" }));
    let whole = program.send(whole).await.unwrap().result()["structuredContent"].clone();
    assert!(whole["results"][0]["document"]["content"].as_str().unwrap().contains("Everyone"), "{whole}");
}

#[tokio::test]
async fn a_document_that_is_gone_is_no_longer_found() {
    let (stage, program) = stage().await;
    stage.kb.remove("kitchen/sourdough.md").unwrap();
    stage.brings_in(&program).await;
    eventually_answers(&program, "proposal", "", |found| found == ["patterns/consent.md"]).await;
}
