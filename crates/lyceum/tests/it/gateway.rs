//! Upstreams end to end: scripted MCP servers and HTTP services behind the real server.

use std::fs;

use lyceum::config::{AuthMode, AuthService, Config, Oauth};
use lyceum_auth::{ApiKey, DEFAULT_ROLES_TTL, Guard};
use lyceum_model::Tier;
use lyceum_testkit::{TestUpstream, UpstreamEra, UpstreamFault};
use serde_json::{Value, json};

use crate::app::{Older, Request, Response, TestApp, call, get, modern, post, within};

/// Tables for an upstream named `docs`.
fn tables(server: &TestUpstream) -> String {
    format!("[upstream.docs]\nurl = \"{}\"\ncall_seconds = 2\nlist_seconds = 2\n", server.url())
}

/// Waits until an upstream is in that state, as `/health` shows it.
async fn reach(app: &TestApp, upstream: &str, state: &str) -> Value {
    let health = async || app.send(get("/health")).await.json()[upstream].clone();
    within(&format!("{upstream} is {state}"), async {
        loop {
            let health = health().await;
            if health["state"] == state {
                return health;
            }
        }
    })
    .await
}

/// A server with one upstream that is up.
async fn started(server: &TestUpstream) -> TestApp {
    let app = TestApp::product_of(&tables(server)).await;
    reach(&app, "docs", "up").await;
    app
}

async fn names(app: &TestApp, path: &str) -> Vec<String> {
    let mut request = modern("tools/list", &json!({}));
    *request.uri_mut() = path.parse().unwrap();
    let listed = app.send(request).await.result();
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The status, and the error of a REST or a JSON-RPC response.
fn failure(response: &Response) -> String {
    let body = response.json();
    format!("{} {}", response.status, body["error"])
}

/// Callers need a key; without one they are anonymous.
fn require_key(config: &mut Config) {
    config.auth = AuthService::Gated(
        Oauth {
            mode: AuthMode::ApiKey,
            roles_good_for: DEFAULT_ROLES_TTL,
            waap: None,
            anonymous: true,
            key: None,
            chains: Vec::new(),
            hats: None,
            names: None,
            github: None,
            keys: vec![ApiKey { name: "ada".to_owned(), hash: [0; 32], tier: Tier::Member }],
            clients: Vec::new(),
            guard: Guard::default(),
        }
        .into(),
    );
}

#[tokio::test]
async fn tools_of_an_upstream_are_offered_over_every_transport() {
    let server = TestUpstream::start(UpstreamEra::Modern).await;
    let app = started(&server).await;
    assert_eq!(names(&app, "/mcp").await, ["docs_echo", "server_info"]);
    assert_eq!(names(&app, "/docs/mcp").await, ["docs_echo"]);
    let listed = app.send(get("/tools")).await.json();
    assert_eq!(listed["tools"][0]["name"], "docs_echo");
    assert_eq!(listed["tools"][0]["domain"], "docs");

    let result = r#""structuredContent":{"z":1.0,"a":12345678901234567890123},"new":[1e2],"content":[]"#;
    server.set_result("echo", &format!("{{{result}}}"));
    let modern = app.send(call("docs_echo", &json!({ "text": "x" }))).await;
    assert!(modern.text().contains(result), "{}", modern.text());
    let rest = app.send(post("/tools/docs_echo/call", r#"{"arguments":{"text":"x"}}"#)).await;
    assert_eq!(rest.text(), format!("{{{result}}}"));
    let session = Older::open(&app, "2025-06-18").await;
    let older = app.send(session.call("docs_echo", &json!({ "text": "x" }))).await;
    assert_eq!(older.result()["structuredContent"]["z"], 1.0);
    app.stop().await;
}

#[tokio::test]
async fn g4_the_callers_token_and_cookies_are_never_forwarded() {
    let server = TestUpstream::start(UpstreamEra::Legacy).await;
    let app = started(&server).await;
    let from_caller = |mut request: Request| {
        for (name, value) in [
            ("authorization", "Bearer caller-canary"),
            ("cookie", "session=caller-canary"),
            ("x-forwarded-for", "203.0.113.7"),
            ("x-caller", "caller-canary"),
        ] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        request
    };
    let before = server.requests().len();
    app.send(from_caller(call("docs_echo", &json!({ "text": "x" })))).await.result();
    app.send(from_caller(post("/tools/docs_echo/call", r#"{"arguments":{"text":"x"}}"#))).await;
    let sent = server.requests().split_off(before);
    assert_eq!(sent.len(), 2);
    for request in sent {
        let all = format!("{} {}", request.head, request.body);
        assert!(!all.contains("canary") && !all.contains("203.0.113.7"), "{all}");
        let allowed = [
            "accept",
            "content-length",
            "content-type",
            "host",
            "mcp-protocol-version",
            "mcp-session-id",
            "user-agent",
        ];
        let names: Vec<&str> = request.headers.keys().map(String::as_str).collect();
        assert_eq!(names, allowed);
    }
    app.stop().await;
}

#[tokio::test]
async fn g7_the_five_error_payloads() {
    let server = TestUpstream::start(UpstreamEra::Modern).await;
    let app = started(&server).await;
    let mut seen = Vec::new();
    seen.push(failure(&app.send(call("docs_nope", &json!({}))).await));
    seen.push(failure(&app.send(call("docs_echo", &json!({ "text": 7 }))).await));
    server.fail_calls(UpstreamFault::Rpc(-32603));
    seen.push(failure(&app.send(call("docs_echo", &json!({ "text": "x" }))).await));
    seen.push(failure(&app.send(post("/tools/docs_echo/call", r#"{"arguments":{"text":"x"}}"#)).await));
    let mut foreign = call("docs_echo", &json!({ "text": "x" }));
    foreign.headers_mut().insert("origin", "https://foreign.example".parse().unwrap());
    seen.push(failure(&app.send(foreign).await));
    app.stop().await;
    let app = TestApp::product_with(&tables(&server), require_key).await;
    let listed = async || names(&app, "/mcp").await;
    let denied = async || app.send(post("/tools/docs_echo/call", r#"{"arguments":{"text":"x"}}"#)).await;
    within("the tool is known", async { while denied().await.status == 404 {} }).await;
    assert_eq!(listed().await, ["server_info"], "closed by default");
    seen.push(failure(&denied().await));
    seen.push(failure(&app.send(call("docs_echo", &json!({ "text": "x" }))).await));
    app.stop().await;
    insta::assert_snapshot!(seen.join("\n"), @r#"
    200 {"code":-32602,"data":{"error_code":"TOOL_NOT_FOUND","name":"docs_nope"},"message":"unknown tool \"docs_nope\"; tools/list lists all tools"}
    200 {"code":-32602,"data":{"error_code":"VALIDATION_ERROR","field":"arguments.text"},"message":"arguments.text: 7 is not of type \"string\""}
    200 {"code":5020,"data":{"error_code":"UPSTREAM_ERROR","reason":"error_response","upstream":"docs"},"message":"docs answered with the JSON-RPC error -32603; try again later"}
    502 {"code":"UPSTREAM_ERROR","details":{"reason":"error_response","upstream":"docs"},"message":"docs answered with the JSON-RPC error -32603; try again later"}
    403 {"code":4030,"data":{"error_code":"FORBIDDEN"},"message":"this Origin is not allowed; add it to server.allowed_origins"}
    401 {"code":"SCOPE_MISSING","details":{"missingScopes":["tools:call"],"requiredTier":"member"},"message":"Access denied. This tool requires member access."}
    401 {"code":4031,"data":{"error_code":"SCOPE_MISSING","missingScopes":["tools:call"],"requiredTier":"member"},"message":"Access denied. This tool requires member access."}
    "#);
}

#[tokio::test]
async fn an_upstream_that_is_down_is_left_out_with_the_reason_and_comes_back() {
    let (sick, well) =
        (TestUpstream::start(UpstreamEra::Modern).await, TestUpstream::start(UpstreamEra::Legacy).await);
    let both = format!("{}[upstream.wiki]\nurl = \"{}\"\n", tables(&sick), well.url());
    let app = TestApp::product_of(&both).await;
    reach(&app, "docs", "up").await;
    reach(&app, "wiki", "up").await;
    assert_eq!(names(&app, "/mcp").await, ["docs_echo", "server_info", "wiki_echo"]);
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut changes = app.open(modern("subscriptions/listen", &wanted)).await;
    within("the acknowledgement", changes.event()).await;

    sick.stop().await;
    let failed = app.send(call("docs_echo", &json!({ "text": "x" }))).await.json();
    assert_eq!(failed["error"]["data"]["error_code"], "UPSTREAM_ERROR", "{failed}");
    let health = reach(&app, "docs", "down").await;
    assert_eq!((&health["reason"], &health["tools"]), (&json!("unreachable"), &json!(1)), "{health}");
    let changed = within("the list changes", changes.event()).await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(names(&app, "/mcp").await, ["server_info", "wiki_echo"]);
    assert_eq!(app.send(get("/health")).await.json()["status"], "degraded");
    assert_eq!(app.send(get("/readyz")).await.status, 200, "a sick upstream is no reason to restart");
    let info =
        app.send(call("server_info", &json!({}))).await.result()["structuredContent"]["upstreams"].clone();
    assert_eq!(info[0]["is_up"], false, "{info}");
    assert!(info[0]["error"].as_str().unwrap().starts_with("cannot be reached"), "{info}");
    assert_eq!(info[1], json!({ "name": "wiki", "is_up": true, "tools": 1 }));
    app.send(call("wiki_echo", &json!({ "text": "x" }))).await.result();

    sick.start_again().await;
    let changed = within("the list changes again", changes.event()).await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(names(&app, "/mcp").await, ["docs_echo", "server_info", "wiki_echo"]);
    app.send(call("docs_echo", &json!({ "text": "x" }))).await.result();
    drop(changes);
    app.stop().await;
}

#[tokio::test]
async fn the_example_is_served() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gateway.toml");
    let (docs, billing) =
        (TestUpstream::start(UpstreamEra::Modern).await, TestUpstream::start(UpstreamEra::Modern).await);
    docs.set_tools(json!([
        { "name": "search", "inputSchema": { "type": "object" } },
        { "name": "delete_page", "inputSchema": { "type": "object" } },
    ]));
    let text = fs::read_to_string(example).unwrap();
    let (_, tables) = text.split_once("# An MCP server.").unwrap();
    let tables = tables.replace("https://docs.example.org/mcp", &docs.url());
    let tables = tables.replace("https://billing.example.org", &billing.url());
    let tables = format!("# {}", tables.replace("token_env = \"DOCS_TOKEN\"", ""));
    let app = TestApp::product_of(&tables).await;
    reach(&app, "docs", "up").await;
    reach(&app, "billing", "up").await;
    assert_eq!(names(&app, "/mcp").await, ["billing_get_invoice", "docs_search", "server_info"]);
    let wrong = app.send(call("billing_get_invoice", &json!({ "number": 7 }))).await.json();
    assert_eq!(wrong["error"]["data"]["reason"], "invalid_output", "{wrong}");
    let sent = billing.requests().pop().unwrap();
    assert!(sent.head.starts_with("POST /mcp/tools/get_invoice/call "), "{}", sent.head);
    assert_eq!(sent.body, json!({ "arguments": { "number": 7 } }));
    app.stop().await;
}

#[tokio::test]
async fn configuration_errors_say_what_to_write() {
    let faults = |tables: &str| Config::from_text("lyceum.toml".as_ref(), tables).unwrap_err().to_string();
    let all = faults(
        "[upstream.a]\nkind = \"service\"\nurl = \"https://user:pass@a.example\"\n\
         [upstream.b]\nurl = \"ftp://b.example\"\nscopes = []\n[upstream.b.tools.x]\ndescription = \"X\"\n\
         [upstream.c]\ntier = \"member\"\n[upstream.d]\nurl = \"https://d.example\"\ntoken_header = \"x y\"\n\
         [upstream.e]\nurl = \"https://e.example\"\nprotocl = \"auto\"\n",
    );
    for part in [
        "declares no tools",
        "without a user name",
        "must name a scope",
        "defines its tools itself",
        "set the variable DOMAIN_C_URL",
        "is not a header name",
        "did you mean protocol?",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert!(!all.contains("user:pass"), "{all}");
    let array = faults("[[upstream]]\nurl = \"https://docs.example.org/mcp\"\n");
    assert!(array.contains("must be a table"), "{array}");
}
