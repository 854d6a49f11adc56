//! Names, definitions, permissions, arguments and results.

use lyceum_model::{Caller, Credential as CallerCredential, Scope, Tier};
use lyceum_net::Secret;
use lyceum_testkit::UpstreamEra;
use lyceum_tools::{CallContext, Input, Outcome, mcp::list_tools};
use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};
use std::sync::Arc;

use super::{Bench, object};
use crate::{Credential, Rule, ToolErrors, ToolRule};

#[tokio::test]
async fn complaint_10_definitions_keep_annotations_schemas_and_meta() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    let tools = list_tools(&bench.view(), None).unwrap().tools;
    let listed = serde_json::to_value(&tools).unwrap();
    assert_eq!(listed[0]["name"], "docs_echo");
    assert_eq!(listed[0]["annotations"], json!({ "readOnlyHint": true }));
    assert_eq!(listed[0]["_meta"], json!({ "example/kind": "test" }));
    assert_eq!(listed[0]["inputSchema"]["required"], json!(["text"]));
}

#[tokio::test]
async fn complaint_10_a_result_keeps_its_bytes() {
    for era in [UpstreamEra::Modern, UpstreamEra::Legacy] {
        let bench = Bench::start(era).await;
        let result = r#"{"structuredContent":{"z":1.0,"a":[1e2,12345678901234567890123]},"new":{"b":1,"a":2},"content":[{"type":"hologram","x":1}],"isError":false}"#;
        bench.server.set_result("echo", result);
        assert_eq!(bench.result("docs_echo", json!({ "text": "x" })).await, result, "{era:?}");
    }
}

#[tokio::test]
async fn complaint_7_a_call_is_one_round_trip_under_the_upstreams_own_name() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    let before = bench.server.requests().len();
    bench.result("docs_echo", json!({ "text": "ä" })).await;
    let requests = bench.server.requests().split_off(before);
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].body["params"]["name"], "echo");
    assert_eq!(requests[0].body["params"]["arguments"], json!({ "text": "ä" }));
    let headers = &requests[0].headers;
    assert_eq!((headers["mcp-method"].as_str(), headers["mcp-name"].as_str()), ("tools/call", "echo"));
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
}

#[tokio::test]
async fn g4_our_credential_is_sent_and_nothing_of_the_callers() {
    let secret = Secret::new("shared-secret").unwrap();
    let credential = Credential { header: AUTHORIZATION, secret };
    let bench = Bench::with(UpstreamEra::Modern, |settings| settings.credential = Some(credential)).await;
    let caller = Caller::known("github:77", Tier::Public, [lyceum_model::MCP_READ]);
    let caller = caller.acting_with(CallerCredential::new("ghp_of_the_caller".to_owned()));
    let view = lyceum_tools::View::of_all(Arc::new(bench.upstream.offer().unwrap()), Arc::new(caller));
    view.call("docs_echo", object(json!({ "text": "x" })), CallContext::default()).await.unwrap();
    let requests = bench.server.requests();
    for request in &requests {
        assert_eq!(request.headers["authorization"], "Bearer shared-secret");
        let all = format!("{}{}", request.head, request.body);
        assert!(!all.contains("ghp_of_the_caller") && !all.contains("github:77"), "{all}");
    }
    assert_eq!(requests.len(), 3, "discover, list, call");
}

#[tokio::test]
async fn arguments_are_validated_before_anything_is_sent() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    let before = bench.server.requests().len();
    let error = bench.call("docs_echo", json!({ "text": 7 })).await.unwrap_err();
    assert_eq!(error.code().as_str(), "VALIDATION_ERROR");
    assert!(error.to_string().contains("arguments.text"), "{error}");
    assert_eq!(bench.server.requests().len(), before);
}

#[tokio::test]
async fn a_result_must_match_the_output_schema() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    bench.server.set_tools(json!([
        { "name": "count", "inputSchema": { "type": "object" }, "outputSchema": schema },
    ]));
    bench.upstream.refresh().await;
    bench.server.set_result("count", r#"{"content":[],"structuredContent":{"n":1}}"#);
    bench.result("docs_count", json!({})).await;
    for wrong in [r#"{"content":[],"structuredContent":{"n":"1"}}"#, r#"{"content":[]}"#] {
        bench.server.set_result("count", wrong);
        let failure = bench.failure("docs_count", json!({})).await;
        assert_eq!(failure, ("UPSTREAM_ERROR".to_owned(), "invalid_output".to_owned()), "{wrong}");
    }
}

#[tokio::test]
async fn a_failed_tool_is_relayed_to_the_model_unless_normalized() {
    let failed = r#"{"content":[{"type":"text","text":"secret-of-the-upstream"}],"isError":true}"#;
    let bench = Bench::start(UpstreamEra::Modern).await;
    bench.server.set_result("echo", failed);
    assert_eq!(bench.result("docs_echo", json!({ "text": "x" })).await, failed);
    let bench =
        Bench::with(UpstreamEra::Modern, |settings| settings.tool_errors = ToolErrors::Normalize).await;
    bench.server.set_result("echo", failed);
    let failure = bench.failure("docs_echo", json!({ "text": "x" })).await;
    assert_eq!(failure, ("UPSTREAM_ERROR".to_owned(), "tool_failed".to_owned()));
}

#[tokio::test]
async fn scopes_are_those_of_the_configuration() {
    let scope = Scope::parse("docs:call").unwrap();
    let (rule, own) = (Rule { tier: Tier::Member, scopes: vec![scope.clone()] }, scope.clone());
    let bench = Bench::with(UpstreamEra::Modern, move |settings| {
        settings.rule = rule;
        settings.tools.insert(
            "open".into(),
            ToolRule { is_excluded: false, rule: Some(Rule { tier: Tier::Public, scopes: Vec::new() }) },
        );
        settings.tools.insert("drop".into(), ToolRule { is_excluded: true, rule: None });
    })
    .await;
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    bench.server.set_tools(json!([tool("closed"), tool("open"), tool("drop")]));
    bench.upstream.refresh().await;
    let names = |caller: Caller| {
        let view = lyceum_tools::View::of_all(Arc::new(bench.upstream.offer().unwrap()), Arc::new(caller));
        view.tools().map(|tool| tool.spec().name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(Caller::anonymous()), ["docs_open"]);
    assert_eq!(
        names(Caller::known("a", Tier::Member, [own, lyceum_model::MCP_READ])),
        ["docs_closed", "docs_open"]
    );
    assert_eq!(names(Caller::trusted()), ["docs_closed", "docs_open"]);
}

#[tokio::test]
async fn one_bad_definition_costs_only_itself() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    bench.server.set_tools(json!([
        { "name": "good", "inputSchema": { "type": "object" } },
        { "name": "no_schema" },
        { "name": "list", "inputSchema": { "type": "array" } },
        { "name": "remote", "inputSchema": { "type": "object", "$ref": "http://192.0.2.1/schema" } },
        { "name": "good", "inputSchema": { "type": "object" } },
        7,
    ]));
    let state = bench.upstream.refresh().await;
    let skipped: Vec<&str> = state.skipped().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(skipped, ["no_schema", "list", "remote", "good", "(without a name)"]);
    assert_eq!(bench.view().tools().count(), 1);
    assert_eq!(state.describe()["skipped"].as_array().map(Vec::len), Some(5));
}

#[tokio::test]
async fn a_request_for_input_is_relayed_with_the_upstreams_state() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    let question = json!({
        "resultType": "input_required", "requestState": "their-state",
        "inputRequests": { "name": { "method": "elicitation/create", "params": {
            "mode": "form", "message": "Who?", "requestedSchema": { "type": "object", "properties": {} },
        } } },
    });
    bench.server.set_result("echo", &question.to_string());
    let client = serde_json::from_value(json!({ "elicitation": {}, "roots": {} })).unwrap();
    let context = CallContext { client, ..CallContext::default() };
    let outcome =
        bench.view().call("docs_echo", object(json!({ "text": "x" })), context.clone()).await.unwrap();
    let Outcome::NeedInput(need) = outcome else { panic!("{outcome:?}") };
    assert!(need.requests.contains_key("name"));
    assert_eq!(need.state, Some(json!("their-state")));

    bench.server.set_result("echo", r#"{"resultType":"complete","content":[]}"#);
    let answers = [("name".to_owned(), json!({ "action": "accept", "content": { "name": "Ada" } }))].into();
    let context = CallContext { input: Input { answers, state: need.state }, ..context };
    bench.view().call("docs_echo", object(json!({ "text": "x" })), context).await.unwrap();
    let params: &Value = &bench.server.requests_of("tools/call").pop().unwrap().body["params"];
    assert_eq!(params["requestState"], "their-state");
    assert_eq!(params["inputResponses"]["name"]["content"]["name"], "Ada");
    let declared = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(*declared, json!({ "elicitation": {} }), "the caller's capabilities, without roots");
}
