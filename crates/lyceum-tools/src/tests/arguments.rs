//! Arguments are validated before the tool runs, and errors name the field.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Client, SHELF, object};
use crate::{Call, CallContext, Error, Registry, Tool};

struct Find;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    #[schemars(length(min = 1, max = 20))]
    text: String,
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u8>,
    #[serde(default)]
    shelves: Vec<Shelf>,
    within: Option<Within>,
}

#[derive(Deserialize, JsonSchema)]
struct Shelf {
    number: u8,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Within {
    tags: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct SearchOutput {
    text: String,
    limit: u8,
    shelves: Vec<u8>,
    tags: usize,
}

impl Tool for Find {
    const NAME: &'static str = "find";
    const TITLE: &'static str = "Find";
    const DESCRIPTION: &'static str = "Finds.";
    type Service = u8;
    type Args = Query;
    type Output = SearchOutput;

    async fn call(most: &u8, _: &Call, query: Query) -> Result<SearchOutput, Error> {
        let tags = query.within.map_or(0, |within| within.tags.len());
        let shelves = query.shelves.iter().map(|shelf| shelf.number).collect();
        Ok(SearchOutput { text: query.text, limit: query.limit.unwrap_or(*most), shelves, tags })
    }
}

fn client() -> Client {
    Client::of(Registry::builder().tool::<Find>(&SHELF, &10.into()).unwrap().build())
}

/// The field and the message of the validation error.
async fn refused(arguments: &Value) -> (String, String) {
    match client().view().call("find", object(arguments.clone()), CallContext::default()).await {
        Err(Error::Invalid { field, message }) => (field, message),
        other => panic!("{arguments}: {other:?}"),
    }
}

/// Checks the message of the validation error, which starts with the first invalid field.
async fn check(arguments: Value, expected: &str) {
    let (field, message) = refused(&arguments).await;
    assert_eq!(message, expected, "{arguments}");
    assert_eq!(field, expected.split(": ").next().unwrap(), "{arguments}");
}

#[tokio::test]
async fn arguments_that_fit_reach_the_tool() {
    let arguments = json!({ "text": "moss", "within": { "tags": ["a", "b"] } });
    let answer = client().ask("tools/call", json!({ "name": "find", "arguments": arguments })).await;
    insta::assert_json_snapshot!(answer, @r#"
    {
      "content": [
        {
          "text": "{\"limit\":10,\"shelves\":[],\"tags\":2,\"text\":\"moss\"}",
          "type": "text"
        }
      ],
      "isError": false,
      "resultType": "complete",
      "structuredContent": {
        "limit": 10,
        "shelves": [],
        "tags": 2,
        "text": "moss"
      }
    }
    "#);
}

#[tokio::test]
async fn the_message_names_the_field() {
    check(json!({}), r#"arguments.text: "text" is a required property"#).await;
    check(json!({ "text": 5 }), r#"arguments.text: 5 is not of type "string""#).await;
    check(json!({ "text": "" }), r#"arguments.text: "" is shorter than 1 character"#).await;
    check(json!({ "text": "a", "limit": 51 }), "arguments.limit: 51 is greater than the maximum of 50").await;
    let wrong_type = r#"arguments.limit: 1.5 is not of types "null", "integer""#;
    check(json!({ "text": "a", "limit": 1.5 }), wrong_type).await;
    let unknown = "arguments.txt: Additional properties are not allowed ('txt' was unexpected)";
    check(json!({ "text": "a", "txt": "a" }), unknown).await;
}

#[tokio::test]
async fn a_field_inside_is_named_by_its_path() {
    let missing = r#"arguments.shelves.1.number: "number" is a required property"#;
    check(json!({ "text": "a", "shelves": [{ "number": 1 }, {}] }), missing).await;
    let wrong_type = r#"arguments.shelves.0.number: "b" is not of type "integer""#;
    check(json!({ "text": "a", "shelves": [{ "number": "b" }] }), wrong_type).await;
}

#[tokio::test]
async fn a_field_inside_something_optional_is_named_by_its_path() {
    let missing = r#"arguments.within.tags: "tags" is a required property"#;
    check(json!({ "text": "a", "within": {} }), missing).await;
    let wrong_type = r#"arguments.within.tags.1: 5 is not of type "string""#;
    check(json!({ "text": "a", "within": { "tags": ["b", 5] } }), wrong_type).await;
    let unknown = "arguments.within.c/d: Additional properties are not allowed ('c/d' was unexpected)";
    check(json!({ "text": "a", "within": { "tags": [], "c/d": 1 } }), unknown).await;
}

#[tokio::test]
async fn several_faults_are_told_at_once() {
    let told = [
        r#"arguments.limit: "ten" is not of types "null", "integer""#,
        r#"arguments.shelves.0.number: true is not of type "integer""#,
        "arguments.more: Additional properties are not allowed ('more' was unexpected)",
        r#"arguments.text: "text" is a required property"#,
    ];
    let arguments = json!({ "limit": "ten", "shelves": [{ "number": true }], "more": true });
    check(arguments, &told.join("; ")).await;
}

/// Checks that the error message stays short, however large the arguments are.
async fn check_short(arguments: Value) {
    let (field, message) = refused(&arguments).await;
    for text in [field, message] {
        assert!(text.chars().count() < 2_000, "{} characters", text.chars().count());
    }
}

#[tokio::test]
async fn a_long_value_is_shortened() {
    let long = "é".repeat(100_000);
    check_short(json!({ "text": long })).await;
    check_short(json!({ "text": [long] })).await;
}

#[tokio::test]
async fn a_long_name_is_shortened() {
    check_short(json!({ "text": "a", "é".repeat(100_000): true })).await;
}

#[tokio::test]
async fn many_faults_are_not_all_told() {
    check_short(json!({ "text": "a", "shelves": (0..10_000).collect::<Vec<_>>() })).await;
}

#[tokio::test]
async fn the_model_reads_what_is_wrong() {
    let answer = client().ask("tools/call", json!({ "name": "find" })).await;
    insta::assert_json_snapshot!(answer, @r#"
    {
      "_meta": {
        "lyceum/error_code": "VALIDATION_ERROR"
      },
      "content": [
        {
          "text": "arguments.text: \"text\" is a required property",
          "type": "text"
        }
      ],
      "isError": true,
      "resultType": "complete"
    }
    "#);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused_by_the_protocol() {
    for arguments in [json!([1]), json!("text"), json!(5)] {
        let answer = client().ask("tools/call", json!({ "name": "find", "arguments": arguments })).await;
        assert_eq!(answer["error"]["code"], -32602, "{arguments}: {answer}");
    }
}

#[tokio::test]
async fn an_argument_of_a_tool_that_takes_none_is_named() {
    for schema in [
        json!({ "type": "object", "additionalProperties": false }),
        json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    ] {
        let validator = crate::schema::ArgumentValidator::new(&object(schema)).unwrap();
        let Err(Error::Invalid { field, message }) = validator.validate(&json!({ "x": 1 })) else {
            panic!("an unknown argument was accepted");
        };
        assert_eq!(field, "arguments.x");
        assert!(message.starts_with("arguments.x: "), "{message}");
    }
}
