//! Search through the real program: every transport, after a push, and degraded.

mod apart;
mod asking;
mod meaning;
mod wild;

use serde_json::Value;

use super::stage::{Program, eventually};
use crate::app::get;

/// The response to a query; `rest` is the remainder of the query string.
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

/// The paths of the results, best first.
async fn paths(program: &Program, question: &str, rest: &str) -> Vec<String> {
    let answer = ask(program, question, rest).await;
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|one| one["path"].as_str().unwrap().to_owned()).collect()
}

/// Repeats a query until the results are as expected.
async fn eventually_answers(program: &Program, question: &str, rest: &str, fits: impl Fn(&[String]) -> bool) {
    eventually(&format!("{question:?} is answered"), || async {
        let found = paths(program, question, rest).await;
        if fits(&found) { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .await;
}
