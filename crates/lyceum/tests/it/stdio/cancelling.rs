//! Cancelled requests, and streams that end with the input.

use serde_json::json;

use super::{Program, modern, notification};

#[tokio::test]
async fn a_listener_that_is_cancelled_hears_no_more_and_another_gets_its_result() {
    let mut program = Program::start();
    for id in [1, 2] {
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let told = program.ask(&modern(id, "subscriptions/listen", wanted)).await;
        assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    }
    program.write(&notification("notifications/cancelled", &json!({ "requestId": 1 })).to_string()).await;
    assert_eq!(program.ask(&modern(3, "tools/list", json!({}))).await["id"], 3);
    let (rest, status) = program.close().await;
    assert!(status.success());
    let ids: Vec<u64> = rest.iter().filter_map(|message| message["id"].as_u64()).collect();
    assert_eq!(ids, [2], "{rest:?}");
}

#[tokio::test]
async fn a_cancellation_of_nothing_is_passed_over() {
    let mut program = Program::start();
    for request in [json!(5), json!("five"), json!(null), json!({})] {
        let cancelled = notification("notifications/cancelled", &json!({ "requestId": request }));
        program.write(&cancelled.to_string()).await;
    }
    assert_eq!(program.ask(&modern(3, "tools/list", json!({}))).await["id"], 3);
    program.close_in_silence().await;
}
