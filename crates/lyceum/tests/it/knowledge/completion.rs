//! Completion in all protocol versions: only published content, with matches of the typed text first.

use serde_json::{Value, json};

use super::base::{Base, both};
use crate::app::TestApp;

async fn check(app: &TestApp, of: &Value, argument: &str, typed: &str, expected: &[&str]) {
    let params = json!({ "ref": of, "argument": { "name": argument, "value": typed } });
    let completion = both(app, "completion/complete", params).await["completion"].take();
    assert_eq!(completion["values"], json!(expected), "{of} {argument} {typed:?}");
    assert_eq!(completion["total"], expected.len());
}

#[tokio::test]
async fn arguments_and_variables_are_completed_with_what_is_published() {
    let base = Base::new();
    let app = base.served().await;
    // The first call waits for the first sync; completion never waits.
    super::base::ask(&app, "list_groups", &json!({})).await;
    let prompt = |name: &str| json!({ "type": "ref/prompt", "name": name });
    let research = prompt("research-topic");
    check(&app, &research, "topic", "comm", &["Commoning", "Commons"]).await;
    check(&app, &research, "topic", "har", &["The harbour"]).await;
    check(&app, &research, "topic", "zanz", &[]).await;
    check(&app, &research, "depth", "", &["deep", "shallow"]).await;
    check(&app, &prompt("explain-pattern"), "pattern", "", &["Rotating stewards"]).await;
    check(&app, &prompt("compare-practices"), "practice1", "", &["Check-in", "Rotating stewards"]).await;
    check(&app, &prompt("compare-practices"), "practice2", "rot", &["Rotating stewards"]).await;
    let template =
        |path: &str| json!({ "type": "ref/resource", "uri": format!("mcp://superbenefit/{path}") });
    let content = template("content/{contentType}/{id}");
    let types = ["group", "link", "pattern", "person", "practice", "study", "tag"];
    check(&app, &content, "contentType", "", &types).await;
    check(&app, &content, "id", "comm", &["commoning", "commons"]).await;
    check(&app, &content, "id", "h", &["handbook", "harbour", "check-in"]).await;
    check(&app, &content, "id", "zanzibar", &[]).await;
    let lexicon = template("lexicon/{term}");
    check(&app, &lexicon, "term", "", &["Commoning", "Commons"]).await;
    check(&app, &lexicon, "term", "zan", &[]).await;
    app.stop().await;
}
