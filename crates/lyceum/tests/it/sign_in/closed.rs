//! `anonymous = false`: what anonymous callers and operators see.

use lyceum::config::Oauth;
use lyceum_auth::{ApiKey, Kind, Token};
use lyceum_model::Tier;
use serde_json::json;

use super::{Stage, VERIFIER, encoded, form_post, key, tokens, with_cookie, with_token};
use crate::app::{get, open, post};

/// API keys of that tier, and one of them in plain text.
pub(super) fn with_key(oauth: &mut Oauth, tier: Tier) -> String {
    let token = Token::random(Kind::Key).unwrap();
    oauth.keys.push(ApiKey { name: tier.to_string(), hash: token.hash().0, tier });
    token.reveal().to_owned()
}

/// P13: title, counts, commits, tool names and the first id were visible to everyone.
#[tokio::test]
async fn s13_strangers_get_a_bare_status_and_where_to_sign_in() {
    let stage = Stage::with(|oauth| oauth.anonymous = false).await;
    let app = &stage.app;
    assert_eq!(app.send(get("/health")).await.json(), json!({ "status": "ok" }));
    assert_eq!(app.send(get("/readyz")).await.json(), json!({ "status": "ok" }));
    assert_eq!(app.send(get("/livez")).await.text(), "ok\n");
    let page = app.send(get("/")).await;
    assert_eq!(
        page.text(),
        format!(
            "lyceum\n\nSign in to use this server: connect an MCP client to http://{}/mcp, and it takes you there.\n",
            app.addr
        )
    );
    // A signed-in caller sees the page, but is not an operator.
    let tokens = stage.sign_in(&key(1)).await;
    assert!(app.send(with_token(get("/"), &tokens.access)).await.text().contains("documents"));
    assert_eq!(app.send(with_token(get("/health"), &tokens.access)).await.json(), json!({ "status": "ok" }));
    assert_eq!(app.send(with_token(get("/metrics"), &tokens.access)).await.status, 403);
    assert_eq!(app.send(with_token(get("/health"), "nonsense")).await.status, 401);
}

#[tokio::test]
async fn s13_keys_of_operators_see_everything_and_others_do_not() {
    let (mut operator, mut coder) = (String::new(), String::new());
    let stage = Stage::with(|oauth| {
        oauth.anonymous = false;
        operator = with_key(oauth, Tier::Operator);
        coder = with_key(oauth, Tier::Vibecoder);
    })
    .await;
    let app = &stage.app;
    let health = app.send(with_token(get("/health"), &operator)).await.json();
    assert!(health["knowledge"]["documents"].is_number() && health["sources"].is_array(), "{health}");
    assert_eq!(health["services"]["sign-in"], "ok");
    assert_eq!(health["sign-in"], json!({ "mode": "oauth", "anonymous": false }));
    assert_eq!(app.send(with_token(get("/readyz"), &operator)).await.json()["reasons"], json!([]));
    let metrics = app.send(with_token(get("/metrics"), &operator)).await;
    assert!(metrics.status == 200 && metrics.text().ends_with("# EOF\n"));
    assert!(metrics.text().contains("lyceum_service_healthy{service=\"sign-in\"} 1"), "{}", metrics.text());
    assert_eq!(app.send(with_token(get("/tools"), &operator)).await.status, 200);
    assert_eq!(app.send(with_token(get("/health"), &coder)).await.json(), json!({ "status": "ok" }));
    assert_eq!(app.send(with_token(get("/metrics"), &coder)).await.status, 403);
}

#[tokio::test]
async fn s13_the_listener_of_operators_tells_all_and_serves_nothing_else() {
    let stage = Stage::of("operator_listen = \"127.0.0.1:0\"", |oauth| oauth.anonymous = false).await;
    let operators = stage.app.operators.unwrap();
    let ask = async |request| open(operators, request).await.unwrap().whole().await;
    assert!(ask(get("/health")).await.json()["knowledge"]["documents"].is_number());
    assert_eq!(ask(get("/readyz")).await.json()["ready"], true);
    assert_eq!(ask(get("/livez")).await.text(), "ok\n");
    assert!(ask(get("/metrics")).await.text().ends_with("# EOF\n"));
    for path in ["/", "/mcp", "/tools", "/api/v1/entries"] {
        assert_eq!(ask(get(path)).await.status, 404, "{path}");
    }
    assert_eq!(ask(post("/health", "{}")).await.status, 405);
    let mut rebound = get("/metrics");
    rebound.headers_mut().insert("host", "evil.example".parse().unwrap());
    assert_eq!(ask(rebound).await.status, 403);
}

#[tokio::test]
async fn s13_a_program_that_an_operator_signs_in_to_is_no_operator() {
    let mut operator = String::new();
    let stage = Stage::with(|oauth| {
        oauth.anonymous = false;
        operator = with_key(oauth, Tier::Operator);
    })
    .await;
    let visit = stage.visit().await;
    let form = format!("stateId={}&do=key&key={}", encoded(&visit.state), encoded(&operator));
    let answer = stage.app.send(with_cookie(form_post("/authorize", &form), &visit.cookie)).await;
    let code = answer.header("location").split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let client = &stage.client;
    let form =
        format!("grant_type=authorization_code&client_id={client}&code={code}&code_verifier={VERIFIER}");
    let tokens = tokens(&stage.token(&form).await);
    assert_eq!(stage.app.send(with_token(get("/tools"), &tokens.access)).await.status, 200);
    assert_eq!(stage.app.send(with_token(get("/metrics"), &tokens.access)).await.status, 403);
    let health = stage.app.send(with_token(get("/health"), &tokens.access)).await;
    assert_eq!(health.json(), json!({ "status": "ok" }));
}
