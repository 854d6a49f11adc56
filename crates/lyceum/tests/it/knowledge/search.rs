//! Search through the real program: every door, what is new after a push, and what is said where something is amiss.

mod apart;
mod asking;
mod meaning;

use serde_json::Value;

use super::stage::{Program, eventually};
use crate::app::get;

/// The answer to a question, with everything but `q` as it stands in the address.
async fn ask(program: &Program, question: &str, rest: &str) -> Value {
    let escaped: String =
        question
            .bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02x}")
                }
            })
            .collect();
    let answer = program.send(get(&format!("/api/v1/search?q={escaped}{rest}"))).await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// The paths that answer a question, the best first.
async fn paths(program: &Program, question: &str, rest: &str) -> Vec<String> {
    let answer = ask(program, question, rest).await;
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|one| one["path"].as_str().unwrap().to_owned()).collect()
}

/// Waits until a question has an answer that is as it should be.
async fn eventually_answers(program: &Program, question: &str, rest: &str, fits: impl Fn(&[String]) -> bool) {
    eventually(&format!("{question:?} is answered"), || async {
        let found = paths(program, question, rest).await;
        if fits(&found) { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .await;
}
