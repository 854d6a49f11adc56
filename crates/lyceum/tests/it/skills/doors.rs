//! The six tools over every transport: both protocol versions, REST, the endpoint of the service, and stdio.

use serde_json::{Value, json};

use super::{Folder, refused, serving};
use crate::app::{Older, TestApp, call, get, modern, post};

/// A successful call of each tool.
fn good_calls() -> [(&'static str, Value); 6] {
    let auth = "ui/react/auth";
    [
        ("get_skill", json!({ "context": "react login component" })),
        ("list_skills", json!({ "path": "ui" })),
        ("get_asset", json!({ "skill_path": auth, "file": "assets/auth-flow.svg" })),
        ("report_usage", json!({ "skill_path": auth, "useful": true, "comment": "good" })),
        ("refresh_skills", json!({})),
        ("server_info", json!({})),
    ]
}

/// A call of each tool that fails, and its HTTP status over REST.
fn refused_calls() -> [(&'static str, Value, u16); 7] {
    let auth = "ui/react/auth";
    [
        ("get_skill", json!({}), 400),
        ("get_skill", json!({ "skill_path": "nothing" }), 404),
        ("list_skills", json!({ "path": "nothing" }), 404),
        ("get_asset", json!({ "skill_path": auth, "file": "../secret" }), 400),
        ("run_script", json!({ "skill_path": auth, "file": "scripts/scaffold-auth.sh", "args": {} }), 403),
        ("report_usage", json!({ "skill_path": auth }), 400),
        ("refresh_skills", json!({ "now": true }), 400),
    ]
}

async fn by_rest(app: &TestApp, tool: &str, arguments: &Value) -> (u16, Value) {
    let body = json!({ "arguments": arguments }).to_string();
    let answer = app.send(post(&format!("/tools/{tool}/call"), body)).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn each_tool_answers_alike_through_every_door() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let sessions = [Older::open(&app, "2025-11-25").await, Older::open(&app, "2025-03-26").await];
    for (tool, arguments) in good_calls() {
        let modern = app.send(call(tool, &arguments)).await.result();
        assert_eq!(
            (&modern["isError"], &modern["resultType"]),
            (&json!(false), &json!("complete")),
            "{tool}"
        );
        let (status, rest) = by_rest(&app, tool, &arguments).await;
        assert_eq!(status, 200, "{tool}: {rest}");
        assert_eq!(rest["structuredContent"], modern["structuredContent"], "{tool}");
        for session in &sessions {
            let older = app.send(session.call(tool, &arguments)).await.result();
            assert_eq!(older["content"], modern["content"], "{tool} in {}", session.version);
            assert_eq!(older["content"][0]["type"], "text");
            assert_eq!(older.get("resultType"), None, "{tool}: {older}");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn each_refusal_is_alike_through_every_door() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let session = Older::open(&app, "2025-11-25").await;
    for (tool, arguments, status) in refused_calls() {
        let refusal = refused(&app.send(call(tool, &arguments)).await.result());
        assert_eq!(refused(&app.send(session.call(tool, &arguments)).await.result()), refusal, "{tool}");
        let (rest_status, rest) = by_rest(&app, tool, &arguments).await;
        let told =
            [&rest["error"]["code"], &rest["error"]["message"]].map(|part| part.as_str().unwrap().to_owned());
        assert_eq!((rest_status, told), (status, [refusal.0, refusal.1]), "{tool} {arguments}");
    }
    app.stop().await;
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

const TOOLS: [&str; 6] =
    ["get_asset", "get_skill", "list_skills", "refresh_skills", "report_usage", "run_script"];

#[tokio::test]
async fn the_service_alone_has_the_six_tools_at_its_own_address() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let mut request = modern("tools/list", &json!({}));
    *request.uri_mut() = "/skills/mcp".parse().unwrap();
    assert_eq!(names(&app.send(request).await.result()), TOOLS);
    let all = app.send(get("/tools")).await.json();
    let ours: Vec<&Value> =
        all["tools"].as_array().unwrap().iter().filter(|tool| tool["domain"] == "skills").collect();
    assert_eq!(ours.len(), 6);
    assert!(ours.iter().all(|tool| tool["outputSchema"]["type"] == "object"), "{ours:?}");
    app.stop().await;
}

#[tokio::test]
async fn each_tool_says_what_it_takes() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let all = app.send(get("/tools")).await.json();
    let takes = |name: &str| {
        let tool = all["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        let schema = &tool["inputSchema"];
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
        assert_eq!(schema["additionalProperties"], false, "{name}");
        json!({ "properties": keys, "required": required })
    };
    for (name, properties, required) in [
        ("get_skill", json!(["context", "skill_path"]), json!([])),
        ("list_skills", json!(["offset", "path"]), json!([])),
        ("get_asset", json!(["file", "skill_path"]), json!(["skill_path", "file"])),
        ("run_script", json!(["args", "cwd", "file", "skill_path"]), json!(["skill_path", "file"])),
        ("report_usage", json!(["comment", "skill_path", "useful"]), json!(["skill_path", "useful"])),
        ("refresh_skills", json!([]), json!([])),
    ] {
        assert_eq!(takes(name), json!({ "properties": properties, "required": required }), "{name}");
    }
    app.stop().await;
}

#[tokio::test]
async fn what_a_tool_does_to_the_world_is_told() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let listed = app.send(modern("tools/list", &json!({}))).await.result();
    let hints = |name: &str| {
        let tool = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        [&tool["annotations"]["readOnlyHint"], &tool["annotations"]["destructiveHint"]].map(Value::as_bool)
    };
    for name in ["get_skill", "list_skills", "get_asset"] {
        assert_eq!(hints(name)[0], Some(true), "{name}");
    }
    for name in ["report_usage", "refresh_skills"] {
        assert_eq!(hints(name), [Some(false), Some(false)], "{name}");
    }
    assert_eq!(hints("run_script"), [Some(false), Some(true)]);
    app.stop().await;
}

#[tokio::test]
async fn each_answer_fits_the_schema_that_is_listed() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let listed = app.send(modern("tools/list", &json!({}))).await.result();
    let more = [
        ("get_skill", json!({ "context": "auth" })),
        ("get_skill", json!({ "context": "cook pasta" })),
        ("list_skills", json!({})),
        ("get_asset", json!({ "skill_path": "api/auth", "file": "global.css" })),
    ];
    for (tool, arguments) in good_calls().into_iter().chain(more) {
        let entry = listed["tools"].as_array().unwrap().iter().find(|entry| entry["name"] == tool).unwrap();
        let schema = jsonschema::draft202012::new(&entry["outputSchema"]).unwrap();
        let answer = app.send(call(tool, &arguments)).await.result()["structuredContent"].take();
        let faults: Vec<String> = schema.iter_errors(&answer).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{tool} {arguments}: {faults:?}");
    }
    app.stop().await;
}
