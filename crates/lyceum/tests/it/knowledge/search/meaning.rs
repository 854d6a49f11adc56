//! Vector search with the real model.

use serde_json::Value;

use super::{ask, eventually_answers, paths};
use crate::{
    app::get,
    knowledge::stage::{Program, Stage, eventually, published},
};

/// The stage with the real model.
async fn start(stage: &Stage) -> Program {
    let models = lyceum_testkit::model_folder().parent().unwrap().display().to_string();
    let program = stage.start_with(&[("LYCEUM_EMBEDDER", "local"), ("LYCEUM_MODELS", &models)]).await;
    program.shows_something().await;
    program
}

/// Waits until every chunk has its vector.
async fn is_filled(program: &Program) -> Value {
    eventually("every passage has its vector", || async {
        let search = program.send(get("/health")).await.unwrap().json()["search"].clone();
        if search["state"] == "ready" && search["chunks"] != 0 { Ok(search) } else { Err(search.to_string()) }
    })
    .await
}

#[tokio::test]
async fn a_document_is_found_by_what_it_means() {
    let stage = Stage::new().await;
    stage.kb.write("notes/cat.md", published("Whiskers", "A feline naps on the windowsill.")).unwrap();
    stage.kb.write("notes/tax.md", published("Form 12", "Deductions are due in April.")).unwrap();
    stage.kb.publish().await.unwrap();
    let program = start(&stage).await;
    is_filled(&program).await;
    let answer = eventually("an answer that nothing is amiss with", || async {
        let answer = ask(&program, "sleeping kitty", "&explain=true").await;
        if answer["degraded"].is_null() { Ok(answer) } else { Err(answer.to_string()) }
    })
    .await;
    assert_eq!(answer["results"][0]["path"], "notes/cat.md", "{answer}");
    assert_eq!(answer["results"][0]["explain"]["bm25"], Value::Null);
    assert_eq!(paths(&program, "when do I have to pay the government", "").await[0], "notes/tax.md");
}

#[tokio::test]
async fn after_one_push_a_document_is_found_by_its_new_words_and_meaning_only() {
    let stage = Stage::new().await;
    stage.kb.write("notes/pet.md", published("Note", "A feline naps on the windowsill.")).unwrap();
    stage.kb.write("notes/tax.md", published("Form 12", "Deductions are due in April.")).unwrap();
    stage.kb.publish().await.unwrap();
    let program = start(&stage).await;
    is_filled(&program).await;
    let is_pet = |found: &[String]| found.first().is_some_and(|first| first == "notes/pet.md");
    assert_eq!(paths(&program, "feline", "&mode=lexical").await, ["notes/pet.md"]);
    assert!(is_pet(&paths(&program, "sleeping kitty", "&mode=vector").await));

    stage.kb.write("notes/pet.md", published("Note", "The rocket left its launch pad for orbit.")).unwrap();
    stage.brings_in(&program).await;
    eventually_answers(&program, "rocket", "&mode=lexical", |found| found == ["notes/pet.md"]).await;
    assert_eq!(paths(&program, "feline", "&mode=lexical").await, [""; 0]);
    is_filled(&program).await;
    eventually_answers(&program, "spacecraft flying to the stars", "&mode=vector", is_pet).await;
    let kitty = paths(&program, "sleeping kitty", "&mode=vector").await;
    assert!(!is_pet(&kitty), "{kitty:?}");
}

#[tokio::test]
async fn what_was_embedded_is_not_embedded_again_after_a_restart() {
    let stage = Stage::new().await;
    stage.kb.write("notes/cat.md", published("Whiskers", "A feline naps on the windowsill.")).unwrap();
    stage.kb.publish().await.unwrap();
    let program = start(&stage).await;
    let before = is_filled(&program).await;
    drop(program);
    let program = start(&stage).await;
    assert_eq!(is_filled(&program).await, before);
    assert_eq!(paths(&program, "sleeping kitty", "").await[0], "notes/cat.md");
}
