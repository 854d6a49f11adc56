//! Prompts: arguments are strings, missing required ones are named, and all can be completed.

use lyceum_model::Access;
use serde_json::{Value, json};

use super::{Client, SHELF, prompt};
use crate::{
    PromptEntry, Registry,
    mcp::{PromptArgument, WirePrompt},
};

/// A prompt with a required argument `plant` and an optional `place`.
fn greet() -> PromptEntry {
    let plant = PromptArgument::new("plant").with_required(true);
    let arguments = vec![PromptArgument::new("place"), plant];
    prompt(Access::public(SHELF), WirePrompt::new("greet", Some("Greets a plant."), Some(arguments)))
}

fn client(prompt: PromptEntry) -> Client {
    Client::of(Registry::builder().prompt(prompt).unwrap().build())
}

async fn get(name: &str, arguments: Value) -> Value {
    client(greet()).ask("prompts/get", json!({ "name": name, "arguments": arguments })).await
}

#[tokio::test]
async fn a_prompt_is_written_with_its_arguments() {
    insta::assert_json_snapshot!(get("greet", json!({ "plant": "moss" })).await, @r#"
    {
      "messages": [
        {
          "content": {
            "text": "{\"plant\": \"moss\"}",
            "type": "text"
          },
          "role": "user"
        }
      ],
      "resultType": "complete"
    }
    "#);
}

#[tokio::test]
async fn a_required_argument_that_is_missing_is_named() {
    insta::assert_json_snapshot!(get("greet", json!({ "place": "wall" })).await, @r#"
    {
      "error": {
        "code": -32602,
        "data": {
          "error_code": "VALIDATION_ERROR",
          "field": "arguments.plant"
        },
        "message": "arguments.plant: is required by this prompt"
      }
    }
    "#);
}

#[tokio::test]
async fn an_argument_that_is_not_text_is_named() {
    insta::assert_json_snapshot!(get("greet", json!({ "plant": 5 })).await, @r#"
    {
      "error": {
        "code": -32602,
        "data": {
          "error_code": "VALIDATION_ERROR",
          "field": "arguments.plant"
        },
        "message": "arguments.plant: must be a string"
      }
    }
    "#);
}

#[tokio::test]
async fn an_unknown_prompt_is_not_found() {
    insta::assert_json_snapshot!(get("shout", json!({})).await, @r#"
    {
      "error": {
        "code": -32602,
        "data": {
          "error_code": "NOT_FOUND",
          "name": "shout"
        },
        "message": "unknown prompt \"shout\"; prompts/list lists all prompts"
      }
    }
    "#);
}

/// Completes an argument of a prompt that suggests these values.
async fn complete(values: &[&str], argument: &str, typed: &str) -> Value {
    let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
    let greet = greet().completed_by(move |argument, typed| {
        let fits = values.iter().filter(|value| argument == "plant" && value.starts_with(typed));
        fits.cloned().collect()
    });
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "greet" },
        "argument": { "name": argument, "value": typed },
    });
    client(greet).ask("completion/complete", params).await
}

#[tokio::test]
async fn an_argument_is_completed_from_what_is_typed() {
    insta::assert_json_snapshot!(complete(&["moss", "mint", "fern"], "plant", "m").await, @r#"
    {
      "completion": {
        "hasMore": false,
        "total": 2,
        "values": [
          "moss",
          "mint"
        ]
      },
      "resultType": "complete"
    }
    "#);
    let nothing = complete(&["moss"], "place", "m").await;
    assert_eq!(nothing["completion"]["values"], json!([]));
}

#[tokio::test]
async fn an_unknown_argument_can_not_be_completed() {
    insta::assert_json_snapshot!(complete(&["moss"], "colour", "m").await, @r#"
    {
      "error": {
        "code": -32602,
        "data": {
          "error_code": "VALIDATION_ERROR",
          "field": "argument.name"
        },
        "message": "argument.name: unknown argument \"colour\""
      }
    }
    "#);
}

#[tokio::test]
async fn no_more_than_a_hundred_completions_are_sent() {
    let many: Vec<String> = (0..250).map(|number| format!("m{number:03}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let completion = &complete(&many, "plant", "").await["completion"];
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(250), &json!(true)));
}

#[tokio::test]
async fn a_prompt_without_completion_completes_to_nothing() {
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "greet" },
        "argument": { "name": "plant", "value": "m" },
    });
    let answer = client(greet()).ask("completion/complete", params).await;
    assert_eq!(answer["completion"]["values"], json!([]));
}
