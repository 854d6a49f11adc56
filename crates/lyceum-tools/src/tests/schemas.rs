//! Schemas: generated from types; invalid ones are rejected at start-up.

use std::{io::ErrorKind, net::TcpListener};

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{object, registering::told, said, spec};
use crate::{ToolEntry, ToolSpec, schema_of};

/// The error for a tool with that input schema; `None` if it is valid.
fn refused(input_schema: Value) -> Option<String> {
    let spec = ToolSpec { input_schema: object(input_schema), ..spec("find") };
    ToolEntry::new(spec, |_, _| async { said("") }).err().map(|error| told(&error))
}

#[test]
fn arguments_are_an_object() {
    let text = r#"cannot register the tool "find": its input schema must be of type "object""#;
    assert_eq!(refused(json!({ "type": "object", "properties": { "any": true } })), None);
    for schema in [json!({}), json!({ "type": "string" }), json!({ "type": ["object", "null"] })] {
        assert_eq!(refused(schema.clone()).as_deref(), Some(text), "{schema}");
    }
}

#[track_caller]
fn check_schema(property: &Value, fault: &str) {
    let begins = r#"cannot register the tool "find": its schema is not valid JSON Schema 2020-12: "#;
    let error = refused(json!({ "type": "object", "properties": { "a": property } }));
    assert_eq!(error, Some(format!("{begins}{fault}")), "{property}");
}

#[test]
fn a_schema_that_is_none_is_refused() {
    check_schema(&json!(5), r#"5 is not of types "boolean", "object""#);
    let no_type = r#""text" is not valid under any of the schemas listed in the 'anyOf' keyword"#;
    check_schema(&json!({ "type": "text" }), no_type);
    check_schema(&json!({ "minLength": -1 }), "-1 is less than the minimum of 0");
    check_schema(&json!({ "pattern": "(" }), r#""(" is not a "regex""#);
    check_schema(&json!({ "$ref": "#/$defs/no" }), "Pointer '/$defs/no' does not exist");
}

#[test]
fn the_schema_of_the_answer_must_be_one_too() {
    let refused = |schema: Value| {
        let spec = ToolSpec { output_schema: Some(object(schema)), ..spec("find") };
        ToolEntry::new(spec, |_, _| async { said("") }).err().map(|error| told(&error))
    };
    assert_eq!(refused(json!({ "type": "array", "items": { "type": "string" } })), None);
    for schema in [json!({ "type": "text" }), json!({ "$ref": "https://example.org/schema.json" })] {
        let error = refused(schema.clone()).unwrap_or_default();
        assert!(error.contains("its schema is not valid JSON Schema 2020-12"), "{schema}: {error:?}");
    }
}

#[test]
fn a_schema_outside_is_refused_and_never_fetched() {
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    outside.set_nonblocking(true).unwrap();
    let address = format!("http://{}/schema.json", outside.local_addr().unwrap());
    for reference in [address.as_str(), "file:///etc/hostname", "other.json"] {
        let schema = json!({ "type": "object", "properties": { "a": { "$ref": reference } } });
        let error = refused(schema).unwrap_or_default();
        assert!(error.contains("is not valid JSON Schema 2020-12"), "{reference}: {error:?}");
    }
    assert_eq!(outside.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "the schema was fetched");
}

#[track_caller]
fn check_header(property: &Value, accepted: bool) {
    let schema = json!({ "type": "object", "properties": { "region": property } });
    let error = refused(schema);
    assert_eq!(error.is_none(), accepted, "{property}: {error:?}");
    if let Some(error) = error {
        assert!(
            error.contains("must be a header name, used once, on a string, integer or boolean"),
            "{error}"
        );
    }
}

#[test]
fn an_argument_in_a_header_can_be_sent_in_one() {
    check_header(&json!({ "type": "string", "x-mcp-header": "Region" }), true);
    check_header(&json!({ "type": "integer", "x-mcp-header": "Region" }), true);
    check_header(&json!({ "type": "boolean", "x-mcp-header": "Region" }), true);
    check_header(&json!({ "type": "number", "x-mcp-header": "Region" }), false);
    check_header(&json!({ "type": "array", "x-mcp-header": "Region" }), false);
    check_header(&json!({ "x-mcp-header": "Region" }), false);
    check_header(&json!({ "type": "string", "x-mcp-header": "" }), false);
    check_header(&json!({ "type": "string", "x-mcp-header": "My Region" }), false);
    check_header(&json!({ "type": "string", "x-mcp-header": "Region\r\nX" }), false);
    check_header(&json!({ "type": "string", "x-mcp-header": "Région" }), false);
    check_header(&json!({ "type": "string", "x-mcp-header": 5 }), false);
}

#[test]
fn a_header_stands_for_one_argument() {
    let marked = |header: &str| json!({ "type": "string", "x-mcp-header": header });
    let nested = json!({ "type": "object", "properties": { "region": marked("region") } });
    let schema = json!({ "type": "object", "properties": { "region": marked("Region"), "where": nested } });
    let error = refused(schema).unwrap();
    assert!(error.contains(r#"its x-mcp-header "region" must be a header name, used once"#), "{error}");
}

#[test]
fn a_schema_comes_from_the_type_without_words_that_only_cost() {
    /// The query.
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Query {
        /// The text.
        text: String,
        /// Maximum number of hits.
        #[schemars(range(min = 1, max = 50))]
        limit: Option<u8>,
        within: Vec<Shelf>,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Shelf {
        number: u32,
    }
    insta::assert_json_snapshot!(schema_of::<Query>(), @r##"
    {
      "$defs": {
        "Shelf": {
          "properties": {
            "number": {
              "minimum": 0,
              "type": "integer"
            }
          },
          "required": [
            "number"
          ],
          "type": "object"
        }
      },
      "description": "The query.",
      "properties": {
        "limit": {
          "description": "Maximum number of hits.",
          "maximum": 50,
          "minimum": 1,
          "type": [
            "integer",
            "null"
          ]
        },
        "text": {
          "description": "The text.",
          "type": "string"
        },
        "within": {
          "items": {
            "$ref": "#/$defs/Shelf"
          },
          "type": "array"
        }
      },
      "required": [
        "text",
        "within"
      ],
      "type": "object"
    }
    "##);
}
