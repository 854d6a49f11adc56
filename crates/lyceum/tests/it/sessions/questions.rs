//! Elicitation over an open session: the request is sent on the stream of the call, the response comes back by POST,
//! and the call continues.

use serde_json::{Value, json};

use crate::app::{Older, TestApp, modern};

fn answer_to(question: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}

#[tokio::test]
async fn a_question_is_put_to_the_client_and_its_answer_used() {
    let app = TestApp::start().await;
    for version in ["2025-11-25", "2025-06-18"] {
        let session = Older::open_as(&app, version, json!({ "elicitation": {} })).await;
        let mut stream = app.open(session.call("test_elicitation", &json!({ "message": "Who?" }))).await;
        let question = stream.event().await.unwrap();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert_eq!(question["params"]["message"], "Who?");
        let content = json!({ "action": "accept", "content": { "username": "ada", "email": "a@b.c" } });
        assert_eq!(app.send(session.message(&answer_to(&question, &content))).await.status, 202);
        let answer = stream.event().await.unwrap();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("action=accept") && text.contains("ada"), "{text}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_question_may_be_declined() {
    let app = TestApp::start().await;
    let session = Older::open_as(&app, "2025-11-25", json!({ "elicitation": {} })).await;
    let mut stream = app.open(session.call("test_elicitation", &json!({ "message": "Who?" }))).await;
    let question = stream.event().await.unwrap();
    app.send(session.message(&answer_to(&question, &json!({ "action": "decline" })))).await;
    let answer = stream.event().await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "User response: action=decline");
    app.stop().await;
}

#[tokio::test]
async fn a_question_that_the_client_fails_to_answer_ends_the_call_and_not_the_session() {
    let app = TestApp::start().await;
    let session = Older::open_as(&app, "2025-11-25", json!({ "elicitation": {} })).await;
    let mut stream = app.open(session.call("test_elicitation", &json!({ "message": "Who?" }))).await;
    let question = stream.event().await.unwrap();
    let error = json!({ "code": -32000, "message": "nobody is here" });
    app.send(session.message(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }))).await;
    let answer = stream.event().await.unwrap();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    super::check_goes_on(&app, &session).await;
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_can_not_answer_is_told_so() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    let answer = app.send(session.call("test_elicitation", &json!({ "message": "Who?" }))).await.message();
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
    app.stop().await;
}

#[tokio::test]
async fn in_the_modern_era_the_question_is_the_answer() {
    let app = TestApp::start().await;
    let ask = |extra: Value| {
        let capabilities = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
        let mut params = json!({
            "name": "test_input_required_result_request_state", "arguments": {}, "_meta": capabilities
        });
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        modern("tools/call", &params)
    };
    let question = app.send(ask(json!({}))).await.result();
    assert_eq!(question["resultType"], "input_required");
    let accepted = json!({ "confirm": { "action": "accept", "content": { "ok": true } } });
    let state = question["requestState"].as_str().unwrap();
    let again = json!({ "inputResponses": accepted, "requestState": state });
    let answer = app.send(ask(again)).await.result();
    assert_eq!(answer["content"][0]["text"], "state-ok, confirmed: true");
    let tampered = json!({ "inputResponses": accepted, "requestState": format!("{state}x") });
    assert_eq!(app.send(ask(tampered)).await.message()["error"]["code"], -32602);
    app.stop().await;
}
