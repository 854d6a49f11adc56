//! The Python client and the knowledge base of the bundled example: every tool, resources, prompts, completion.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::scene::Scene;
use super::{Mode, call, run_steps, target_of};

const HOST: &str = "mcp://ferry-street";

/// A step, and the expected values at JSON pointers of its result.
type Step = (Value, &'static [(&'static str, &'static str)]);

/// Uses each method at least once over HTTP. The client rejects results that don't match their schemas.
pub(in super::super) fn knowledge_base(scene: &Scene<'_>, mode: Mode) -> Result<String> {
    let server = scene.serve()?;
    let (steps, expected): (Vec<_>, Vec<_>) = steps().into_iter().unzip();
    let met = run_steps(scene, mode, &target_of(server.mcp_url()), steps).and_then(|report| {
        for (number, pointers) in expected.iter().enumerate() {
            let result = report.result(number)?;
            for (pointer, expected) in *pointers {
                let found = result.pointer(pointer).with_context(|| format!("no {pointer} in {result}"))?;
                let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
                ensure!(
                    found.starts_with(expected),
                    "{pointer} does not start with {expected:?} in {result}"
                );
            }
        }
        Ok(format!("{}, {} tools, {} results", report.protocol, report.tools.len(), expected.len()))
    });
    server.explain(met)
}

fn steps() -> Vec<Step> {
    let document = json!({ "contentType": "pattern", "id": "a-person-merges" });
    vec![
        (
            call("define_term", &json!({ "term": "working group" })),
            &[("/term", "Circle"), ("/path", "tags/circle.md"), ("/commit", ""), ("/synced_at", "2")],
        ),
        (
            call("define_term", &json!({ "term": "circel" })),
            &[("/found", "false"), ("/suggestions/0", "Circle")],
        ),
        (call("search_lexicon", &json!({ "keyword": "circle" })), &[("/terms/0/term", "Circle")]),
        (call("list_groups", &json!({})), &[("/groups/0/slug", "care-circle")]),
        (call("list_releases", &json!({})), &[("/releases/0/entries/0/path", "artifacts/")]),
        (
            call("get_document", &document),
            &[("/title", "A person merges"), ("/content", "A page is a promise")],
        ),
        (
            json!({ "list": "resources" }),
            &[("/resources/0/name", "data/groups"), ("/resources/3/name", "prompts/")],
        ),
        (json!({ "list": "resource_templates" }), &[("/resourceTemplates/0/name", "content")]),
        (json!({ "list": "prompts" }), &[("/prompts/2/name", "research-topic")]),
        (json!({ "read": format!("{HOST}/data/ontology") }), &[("/contents/0/mimeType", "application/json")]),
        (
            json!({ "read": format!("{HOST}/content/pattern/a-person-merges") }),
            &[(
                "/contents/0/text",
                "---\nid: \"a-person-merges\"\ncontentType: \"pattern\"\ntitle: \"A person merges\"\nsource: \"example\"\n",
            )],
        ),
        (
            json!({ "read": format!("{HOST}/lexicon/working%20group") }),
            &[("/contents/0/mimeType", "text/markdown")],
        ),
        (
            json!({ "prompt": "research-topic", "arguments": { "topic": "Circle" } }),
            &[("/messages/0/content/text", "Research the topic \"Circle\" in the ")],
        ),
        (
            json!({
                "complete": format!("{HOST}/content/{{contentType}}/{{id}}"),
                "argument": { "name": "id", "value": "a-person" },
            }),
            &[("/completion/values/0", "a-person-merges")],
        ),
        (
            json!({ "complete": "explain-pattern", "argument": { "name": "pattern", "value": "trial" } }),
            &[("/completion/values/0", "Trial before rule")],
        ),
    ]
}
