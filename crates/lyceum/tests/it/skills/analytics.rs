//! Usage events end to end: they arrive at the endpoint, also after an outage.

mod receiver;

use serde_json::{Value, json};

use super::{
    Folder,
    command::{Server, lyceum},
    repository::Repository,
    tables,
};
use crate::stdio::Program;
pub(super) use receiver::Receiver;

fn text(folder: &Folder) -> String {
    folder.path().to_str().unwrap().to_owned()
}

/// An event without the fields that differ each time; checks their format.
fn without_time(event: &Value) -> Value {
    let mut event = event.clone();
    let fields = event.as_object_mut().unwrap();
    let time = fields.remove("timestamp").unwrap();
    let form: String =
        time.as_str().unwrap().chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(form, "0000-00-00T00:00:00.000Z");
    assert!(fields.remove("id").unwrap().as_str().is_some_and(|id| !id.is_empty()));
    event
}

/// A call for each kind of event except `script_executed`, and the expected event.
fn uses() -> Vec<(&'static str, Value, &'static str, Value)> {
    let auth = "ui/react/auth";
    vec![
        ("get_skill", json!({ "context": "cook pasta" }), "no_match", json!({ "context": "cook pasta" })),
        (
            "get_skill",
            json!({ "context": "auth" }),
            "ambiguous",
            json!({ "context": "auth", "candidates": [auth, "api/auth"] }),
        ),
        (
            "get_skill",
            json!({ "context": "react login component" }),
            "skill_served",
            json!({
                "context": "react login component",
                "skill_path": auth,
                "score": 0.755,
                "matched_keywords": ["react", "component", "login"],
                "was_ambiguous": false,
            }),
        ),
        (
            "get_skill",
            json!({ "context": "auth", "skill_path": "api/auth" }),
            "skill_served",
            json!({
                "context": "auth",
                "skill_path": "api/auth",
                "score": 0.25,
                "matched_keywords": ["auth"],
                "was_ambiguous": true,
            }),
        ),
        (
            "get_asset",
            json!({ "skill_path": auth, "file": "assets/component-base.tsx.template" }),
            "asset_served",
            json!({
                "skill_path": auth,
                "file": "assets/component-base.tsx.template",
                "asset_type": "template",
                "is_inherited": true,
                "size_bytes": 32,
            }),
        ),
        (
            "report_usage",
            json!({ "skill_path": auth, "useful": true, "comment": "good" }),
            "skill_feedback",
            json!({ "skill_path": auth, "useful": true, "comment": "good" }),
        ),
        (
            "report_usage",
            json!({ "skill_path": auth, "useful": false }),
            "skill_feedback",
            json!({ "skill_path": auth, "useful": false }),
        ),
        (
            "refresh_skills",
            json!({}),
            "refresh",
            json!({ "mode": "local", "success": true, "skills_reindexed": 6 }),
        ),
    ]
}

/// Triggers all kinds of events; returns the expected ones.
async fn use_it(program: &mut Program) -> Vec<Value> {
    let mut due = Vec::new();
    for (tool, arguments, kind, data) in uses() {
        if tool == "refresh_skills" {
            super::eventually_in(program, tool, |answer| answer["success"] == true).await;
        } else {
            let result = program.call(tool, arguments).await;
            assert_eq!(result["isError"], false, "{result}");
        }
        due.push(json!({ "type": kind, "server_id": "dev-ana", "data": data }));
    }
    due
}

/// The events without a refresh that was rejected because of another one.
fn settled(events: &[Value]) -> Vec<Value> {
    events.iter().map(without_time).filter(|event| event["data"]["success"] != false).collect()
}

#[tokio::test]
async fn each_use_arrives_with_its_fields() {
    let (folder, receiver) = (Folder::example(), Receiver::start().await);
    let variables =
        [("SKILLS_DIR", &*text(&folder)), ("ANALYTICS_ENDPOINT", &receiver.url()), ("USER", "ana")];
    let mut program = Program::with(&variables);
    let due = use_it(&mut program).await;
    let (_, data) = program.finish().await;
    assert_eq!(settled(&receiver.events()), due);
    for request in receiver.requests() {
        assert_eq!(request.line, "POST /events HTTP/1.1");
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert!(request.header("idempotency-key").is_some_and(|key| !key.is_empty()));
    }
    let left = std::fs::read_to_string(data.path().join("data/analytics-buffer.jsonl")).unwrap_or_default();
    assert_eq!(left, "", "what has arrived is not kept");
}

#[tokio::test]
async fn what_happens_while_the_endpoint_is_away_arrives_later_and_once() {
    let (folder, receiver) = (Folder::example(), Receiver::start().await);
    let variables =
        [("SKILLS_DIR", &*text(&folder)), ("ANALYTICS_ENDPOINT", &receiver.url()), ("USER", "ana")];
    receiver.refuse_with(503);
    let mut program = Program::with(&variables);
    let mut due = use_it(&mut program).await;
    let (_, data) = program.finish().await;
    assert_eq!(receiver.events(), Vec::<Value>::new());
    receiver.accept();
    let mut program = Program::at(data, "", &variables);
    due.extend(use_it(&mut program).await);
    program.finish().await;
    let events = receiver.events();
    let ids: std::collections::BTreeSet<String> =
        events.iter().map(|event| event["id"].to_string()).collect();
    assert_eq!(ids.len(), events.len(), "an event came twice");
    assert_eq!(settled(&events), due);
}

#[tokio::test]
async fn a_repository_is_refreshed_with_its_commit() {
    let repository = Repository::of(&[("skills/one.md", &super::folder::skill("one", "1"))]);
    let commit = repository.commit(&[("skills/two.md", &super::folder::skill("two", "2"))]);
    let receiver = Receiver::start().await;
    let variables =
        [("SKILLS_REPO", &*repository.url()), ("ANALYTICS_ENDPOINT", &receiver.url()), ("USER", "ana")];
    let mut program = Program::with(&variables);
    program.call("list_skills", json!({})).await;
    super::eventually_in(&mut program, "refresh_skills", |answer| answer["success"] == true).await;
    program.finish().await;
    let data = json!({ "mode": "git", "success": true, "commit_hash": commit, "files_changed": 0, "skills_reindexed": 2 });
    assert_eq!(
        settled(&receiver.events()),
        [json!({ "type": "refresh", "server_id": "dev-ana", "data": data })]
    );
}

/// Number of events that arrive with that `config.yaml`, `lyceum.toml` and variables.
async fn arrived(receiver: &Receiver, yaml: &str, toml: &str, variables: &[(&str, &str)]) -> usize {
    let folder = Folder::example();
    folder.write("config.yaml", yaml.replace("[url]", &receiver.url()));
    let before = receiver.events().len();
    let mut program =
        Program::of(&format!("{}{}", tables(&folder), toml.replace("[url]", &receiver.url())), variables);
    program.call("get_skill", json!({ "context": "auth" })).await;
    program.finish().await;
    receiver.events().len() - before
}

#[tokio::test]
async fn nothing_is_told_unless_someone_wants_it() {
    let receiver = Receiver::start().await;
    let (on, off) = (
        "analytics: { enabled: true, endpoint: \"[url]\" }",
        "analytics: { enabled: false, endpoint: \"[url]\" }",
    );
    let (toml_on, toml_off) = (
        "[skills.analytics]\nenabled = true\nendpoint = \"[url]\"\n",
        "[skills.analytics]\nenabled = false\n",
    );
    let url = receiver.url();
    let variable = [("ANALYTICS_ENDPOINT", url.as_str())];
    assert_eq!(arrived(&receiver, "", "", &[]).await, 0);
    assert_eq!(arrived(&receiver, on, "", &[]).await, 1);
    assert_eq!(arrived(&receiver, off, "", &[]).await, 0);
    assert_eq!(arrived(&receiver, "", toml_on, &[]).await, 1);
    assert_eq!(arrived(&receiver, on, toml_off, &[]).await, 0);
    assert_eq!(arrived(&receiver, off, "", &variable).await, 1);
    assert_eq!(arrived(&receiver, off, toml_off, &variable).await, 1);
}

#[tokio::test]
async fn events_wait_on_the_disk_where_no_endpoint_is_named() {
    let folder = Folder::example();
    folder.write("config.yaml", "analytics: { enabled: true }");
    let mut program = Program::with(&[("SKILLS_DIR", &text(&folder))]);
    program.call("get_skill", json!({ "context": "cook pasta" })).await;
    let (_, data) = program.finish().await;
    let buffer = std::fs::read_to_string(data.path().join("data/analytics-buffer.jsonl")).unwrap();
    let event: Value = serde_json::from_str(buffer.trim()).unwrap();
    let expected =
        json!({ "type": "no_match", "server_id": "dev-unknown", "data": { "context": "cook pasta" } });
    assert_eq!(without_time(&event), expected);
}

/// Number of events that arrive from an HTTP server, and number of events on its disk.
async fn of_many(receiver: &Receiver, yaml: &str, toml: &str) -> (usize, usize) {
    let folder = Folder::example();
    folder.write("config.yaml", yaml.replace("[url]", &receiver.url()));
    let before = receiver.events().len();
    let server =
        Server::start(&format!("{}{}", tables(&folder), toml.replace("[url]", &receiver.url()))).await;
    assert_eq!(server.call("get_skill", &json!({ "context": "auth" })).await.status, 200);
    let data = server.stop().await;
    let kept = std::fs::read_to_string(data.path().join("data/analytics-buffer.jsonl")).unwrap_or_default();
    (receiver.events().len() - before, kept.lines().count())
}

#[tokio::test]
async fn over_http_only_whoever_runs_the_server_says_what_is_told_and_where() {
    let receiver = Receiver::start().await;
    let (whole, address) =
        ("analytics: { enabled: true, endpoint: \"[url]\" }", "analytics: { endpoint: \"[url]\" }");
    let on = "[skills.analytics]\nenabled = true\n";
    assert_eq!(of_many(&receiver, whole, "").await, (0, 0));
    assert_eq!(of_many(&receiver, "", &format!("{on}endpoint = \"[url]\"\n")).await, (1, 0));
    assert_eq!(of_many(&receiver, "", on).await, (0, 1));
    assert_eq!(of_many(&receiver, whole, on).await, (0, 1));
    assert_eq!(
        of_many(&receiver, address, on).await,
        (0, 1),
        "the address is not the repository's to choose"
    );
}

#[tokio::test]
async fn a_switch_that_has_no_effect_is_told() {
    let folder = Folder::example();
    folder.write("config.yaml", "analytics: { enabled: true }");
    let app = super::serving(&folder, "").await;
    let told = super::ask(&app, "refresh_skills", json!({})).await;
    let text = "analytics.enabled: on a shared server, only lyceum.toml can enable it; it has no effect here";
    assert_eq!(told["findings"].as_array().unwrap().last().unwrap()["message"], text, "{told}");
    app.stop().await;
}

#[tokio::test]
async fn the_address_of_the_endpoint_is_nowhere_in_the_log() {
    let (folder, receiver) = (Folder::example(), Receiver::start().await);
    receiver.refuse_with(401);
    let url = format!("{}?key=swordfish", receiver.url());
    let mut program = Program::with(&[("SKILLS_DIR", &text(&folder)), ("ANALYTICS_ENDPOINT", &url)]);
    program.call("get_skill", json!({ "context": "auth" })).await;
    let (log, _) = program.finish().await;
    assert!(receiver.requests().iter().any(|request| request.line.contains("swordfish")));
    assert!(!json!(log).to_string().contains("swordfish"), "{log:?}");
    let ended = lyceum("doctor", "", &[("SKILLS_DIR", &text(&folder)), ("ANALYTICS_ENDPOINT", &url)]).await;
    assert!(!format!("{ended:?}").contains("swordfish"), "{ended:?}");
}
