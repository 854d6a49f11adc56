//! Resources: read by URI or through a template.

use lyceum_model::Access;
use serde_json::{Value, json};

use super::{Client, SHELF, family, resource};
use crate::{
    Outcome, Registry, TemplateEntry,
    mcp::{CacheScope, ReadResourceResult, ResourceContents, ResourceTemplate},
};

/// One fixed resource, and a template that matches its URI too.
fn client() -> Client {
    let rows = family(Access::public(SHELF), "shelf://{row}").unwrap();
    let rows = rows.completed_by(|variable, typed| vec![format!("{variable}={typed}")]);
    let builder = Registry::builder().resource(resource(Access::public(SHELF), "shelf://top")).unwrap();
    Client::of(builder.template(rows).unwrap().build())
}

async fn check(uri: &str, text: &str) {
    let answer = client().ask("resources/read", json!({ "uri": uri })).await;
    let contents = json!([{ "uri": uri, "text": text, "mimeType": "text/plain" }]);
    assert_eq!(answer["contents"], contents);
}

#[tokio::test]
async fn a_resource_is_read_by_its_address_before_any_template() {
    check("shelf://top", "shelf://top").await;
    check("shelf://7", r#"{"row":"7"}"#).await;
}

#[tokio::test]
async fn an_unknown_address_is_not_found_and_named() {
    let answer = client().ask("resources/read", json!({ "uri": "shelf://7/8" })).await;
    insta::assert_json_snapshot!(answer, @r#"
    {
      "error": {
        "code": -32602,
        "data": {
          "error_code": "NOT_FOUND",
          "uri": "shelf://7/8"
        },
        "message": "unknown resource \"shelf://7/8\""
      }
    }
    "#);
}

async fn complete(template: &str, variable: &str) -> Value {
    let reference = json!({ "type": "ref/resource", "uri": template });
    let params = json!({ "ref": reference, "argument": { "name": variable, "value": "4" } });
    client().ask("completion/complete", params).await
}

#[tokio::test]
async fn a_variable_of_a_template_is_completed() {
    assert_eq!(complete("shelf://{row}", "row").await["completion"]["values"], json!(["row=4"]));
    assert_eq!(complete("shelf://{row}", "column").await["error"]["data"]["error_code"], "VALIDATION_ERROR");
    assert_eq!(complete("shelf://{other}", "row").await["error"]["data"]["error_code"], "NOT_FOUND");
}

#[tokio::test]
async fn a_resource_may_say_how_long_and_for_whom_it_is_kept() {
    let kept = |ttl_ms, cache_scope| {
        let wire = ResourceTemplate::new("shelf://{row}", "a family");
        let entry = TemplateEntry::new(Access::public(SHELF), wire, move |_, address| async move {
            let mut result = ReadResourceResult::new(vec![ResourceContents::text("", address.uri)]);
            (result.ttl_ms, result.cache_scope) = (ttl_ms, cache_scope);
            Ok(Outcome::Done(result))
        });
        Client::of(Registry::builder().template(entry.unwrap()).unwrap().build())
    };
    for (ttl_ms, scope, told) in [
        (None, None, (0, "public")),
        (Some(300_000), None, (300_000, "public")),
        (Some(1), Some(CacheScope::Private), (1, "private")),
    ] {
        let answer = kept(ttl_ms, scope).ask("resources/read", json!({ "uri": "shelf://7" })).await;
        assert_eq!((&answer["ttlMs"], &answer["cacheScope"]), (&json!(told.0), &json!(told.1)));
    }
}
