//! URI templates: which URIs match, and the values of the variables.

use lyceum_model::Access;
use serde_json::{Value, json};

use super::{Client, SHELF};
use crate::Registry;

/// Reads `uri` through `template`; a URI that does not match is not found.
async fn check(template: &str, uri: &str, variables: Option<Value>) {
    let registry = Registry::builder()
        .template(super::family(Access::public(SHELF), template).unwrap())
        .unwrap()
        .build();
    let answer = Client::of(registry).ask("resources/read", json!({ "uri": uri })).await;
    let found = answer["contents"][0]["text"].as_str().map(|text| text.parse::<Value>().unwrap());
    assert_eq!(found, variables, "{template} for {uri}");
}

#[tokio::test]
async fn a_variable_takes_one_segment() {
    check("skill://{name}", "skill://moss", Some(json!({ "name": "moss" }))).await;
    check("skill://{name}", "skill://größe", Some(json!({ "name": "größe" }))).await;
    check("skill://{name}", "skill://", None).await;
    check("skill://{name}", "skill://a/b", None).await;
    check("skill://{name}", "other://moss", None).await;
    check("skill://{name}/SKILL.md", "skill://moss/SKILL.md", Some(json!({ "name": "moss" }))).await;
    check("skill://{name}/SKILL.md", "skill://moss/SKILL.md/", None).await;
    check("skill://{name}/SKILL.md", "skill:///SKILL.md", None).await;
    check("skill://{name}/SKILL.md", "skill://a/b/SKILL.md", None).await;
    check("a://{x}/{y}", "a://1/2", Some(json!({ "x": "1", "y": "2" }))).await;
    check("a://{x}-{y}", "a://1-2-3", Some(json!({ "x": "1", "y": "2-3" }))).await;
}

#[tokio::test]
async fn a_variable_with_a_plus_spans_segments() {
    check("doc://{+path}", "doc://a/b/c.md", Some(json!({ "path": "a/b/c.md" }))).await;
    check("doc://{+path}", "doc://", None).await;
    check("doc://{+path}.md", "doc://a/b.md", Some(json!({ "path": "a/b" }))).await;
    check("doc://{+path}.md", "doc://a.md/b.md", Some(json!({ "path": "a.md/b" }))).await;
    let both = json!({ "source": "kb", "path": "a/b" });
    check("doc://{source}/{+path}", "doc://kb/a/b", Some(both)).await;
    check("doc://{source}/{+path}", "doc://kb/", None).await;
}

#[tokio::test]
async fn a_template_without_variables_fits_itself() {
    check("doc://all", "doc://all", Some(json!({}))).await;
    check("doc://all", "doc://al", None).await;
}

#[track_caller]
fn check_malformed(template: &str) {
    let error = super::family(Access::public(SHELF), template).expect_err(template).to_string();
    let text = format!(
        "invalid resource template {template:?}: write variables as {{name}}, or {{+name}} to match '/' too"
    );
    assert_eq!(error, text);
}

#[test]
fn a_malformed_template_is_refused() {
    check_malformed("a://{name");
    check_malformed("a://name}");
    check_malformed("a://{}");
    check_malformed("a://{+}");
    check_malformed("a://{{name}}");
    check_malformed("a://{x}{y}");
    check_malformed("a://{two words}");
    check_malformed("a://{x,y}");
    check_malformed("a://{?query}");
    check_malformed("a://{list*}");
}

#[test]
fn a_brace_that_was_never_opened_is_refused_wherever_it_stands() {
    check_malformed("a://}{name}");
}

#[test]
fn a_variable_that_stands_twice_is_refused_for_it_could_have_two_values() {
    check_malformed("a://{x}/{x}");
}
