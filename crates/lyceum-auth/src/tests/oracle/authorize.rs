//! Authorization requests.

use super::{GOOD, authorize, check};

/// The valid request without a parameter.
fn without(name: &str) -> String {
    let is_other = |part: &&str| !part.starts_with(&format!("{name}="));
    GOOD.split('&').filter(is_other).collect::<Vec<_>>().join("&")
}

/// The valid request with a parameter replaced.
fn with(name: &str, value: &str) -> String {
    format!("{}&{name}={value}", without(name))
}

/// The valid request with `more` appended.
fn and(more: &str) -> String {
    format!("{GOOD}&{more}")
}

#[tokio::test]
async fn a_good_request_is_good_for_both() {
    check(&[
        authorize(GOOD, "code"),
        authorize(&with("resource", "{issuer}/skills/mcp"), "code"),
        authorize(&without("scope"), "code"),
        authorize(&with("scope", "mcp:read%20offline_access"), "code"),
        authorize(&with("scope", "mcp:read%20mcp:read%20%20knowledge:read"), "code"),
        authorize(&without("state"), "code"),
        authorize(&with("state", "%F0%9F%A6%89%20%26%3D%2B"), "code"),
        authorize(&and("prompt=login&ui_locales=de"), "code"),
        authorize(&with("redirect_uri", "https://app.example.org/callback?tenant=acme"), "code"),
    ])
    .await;
}

#[tokio::test]
async fn a_client_or_an_address_that_is_not_known_is_never_sent_anywhere() {
    let unknown = "invalid_client says that registering again helps; only the user sees it.";
    let mut steps = vec![
        authorize(&with("client_id", "nobody"), "shown invalid_client")
            .theirs("shown invalid_request", unknown),
        authorize(&without("client_id"), "shown invalid_request"),
        authorize(&with("client_id", ""), "shown invalid_request"),
        authorize(&without("redirect_uri"), "shown invalid_request"),
        authorize(&with("client_id", "{other}"), "shown invalid_request"),
    ];
    let strangers = [
        "https://evil.com/",
        "https://app.example.org/callback",
        "https://app.example.org/callback?tenant=other",
        "https://app.example.org/callback/?tenant=acme",
        "https://app.example.org/Callback?tenant=acme",
        "https://APP.example.org/callback?tenant=acme",
        "https://app.example.org:443/callback?tenant=acme",
        "https://user@app.example.org/callback?tenant=acme",
        "https://app.example.org/%2563allback?tenant=acme",
        "https://app.example.org/callback?tenant=acme%26x=1",
        "https://app.example.org/callback?tenant=acme%23x",
        "http://app.example.org/callback?tenant=acme",
        "http://127.0.0.1:4000/other",
        "http://127.0.0.1:4000/callback/",
        "http://127.0.0.1:4000/callback%23x",
        "http://127.0.0.1:4000@evil.com/callback",
        "http://127.0.0.1.evil.com:4000/callback",
        "http://127.0.0.1:0/callback",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.2:4000/callback",
        "https://127.0.0.1:4000/callback",
        "http://localhost.:4000/callback",
        "http://[::1]:4000/callback",
        "javascript:alert(1)",
        "/callback",
    ];
    steps.extend(
        strangers.map(|stranger| authorize(&with("redirect_uri", stranger), "shown invalid_request")),
    );
    check(&steps).await;
}

#[tokio::test]
async fn a_program_on_the_same_machine_may_listen_on_another_port() {
    let localhost = "Most native apps use localhost, and any free port.";
    let portless = "RFC 8252 lets the port vary, also where none was registered.";
    let shown = "shown invalid_request";
    let at = |redirect: &str| authorize(&with("redirect_uri", redirect), "code");
    check(&[
        at("http://127.0.0.1:50000/callback"),
        at("http://localhost:4000/callback"),
        at("http://localhost:50000/callback").theirs(shown, localhost),
        at("http://127.0.0.1/portless"),
        at("http://127.0.0.1:50000/portless").theirs(shown, portless),
        at("http://127.0.0.1/callback").theirs(shown, portless),
    ])
    .await;
}

#[tokio::test]
async fn without_a_proof_key_there_is_no_code() {
    let refused = "sent invalid_request";
    check(&[
        authorize(&without("code_challenge"), refused),
        authorize(&without("code_challenge_method"), refused),
        authorize(&with("code_challenge", ""), refused),
        authorize(&with("code_challenge", "short"), refused),
        authorize(&with("code_challenge", &"a".repeat(42)), refused),
        authorize(&with("code_challenge", &"a".repeat(44)), refused),
        authorize(&with("code_challenge", &"!".repeat(43)), refused),
        authorize(&with("code_challenge", &"%3D".repeat(43)), refused),
        authorize(&with("code_challenge_method", "plain"), refused),
        authorize(&with("code_challenge_method", "s256"), refused),
        authorize(&with("code_challenge_method", "S512"), refused),
    ])
    .await;
}

#[tokio::test]
async fn only_codes_are_given_here() {
    let refused = "sent unsupported_response_type";
    check(&[
        authorize(&without("response_type"), "sent invalid_request"),
        authorize(&with("response_type", "token"), refused),
        authorize(&with("response_type", "id_token"), refused),
        authorize(&with("response_type", "code%20token"), refused),
        authorize(&with("response_type", "CODE"), refused),
        authorize(&with("response_type", "none"), refused),
    ])
    .await;
}

#[tokio::test]
async fn a_scope_that_there_is_not_is_refused() {
    let refused = "sent invalid_scope";
    check(&[
        authorize(&with("scope", "everything"), refused),
        authorize(&with("scope", "mcp:read%20everything"), refused),
        authorize(&with("scope", "MCP:READ"), refused),
        authorize(&with("scope", "mcp:read%0Aknowledge:read"), refused),
        authorize(&with("scope", "%22%22"), refused),
    ])
    .await;
}

#[tokio::test]
async fn a_token_is_for_one_resource_of_this_server() {
    let one = "A token for two resources could be replayed by one of them at the other.";
    let refused = "sent invalid_target";
    check(&[
        authorize(&with("resource", "https://evil.com/mcp"), refused),
        authorize(&with("resource", "{issuer}/mcp%23x"), refused),
        authorize(&with("resource", "{issuer}/mcp/"), refused),
        authorize(&with("resource", "{issuer}/MCP"), refused),
        authorize(&with("resource", "/mcp"), refused),
        authorize(&with("resource", ""), refused),
        authorize(&and("resource={issuer}/skills/mcp"), refused).theirs("code", one),
        authorize(&and("resource={issuer}/mcp"), refused).theirs("code", one),
        authorize(&and("resource=https://evil.com/mcp"), refused),
    ])
    .await;
}

#[tokio::test]
async fn what_is_sent_twice_or_by_another_way_is_refused() {
    let twice = "RFC 6749 section 3.1: no repeated parameters; they silently take the first.";
    let object = "They ignore it; a client that signs its request should learn that nobody verifies it.";
    check(&[
        authorize(&and("state=s2"), "sent invalid_request").theirs("code", twice),
        authorize(&and("scope=mcp:read"), "sent invalid_request").theirs("code", twice),
        authorize(&and("code_challenge_method=plain"), "sent invalid_request").theirs("code", twice),
        authorize(&and("unheard_of=1&unheard_of=2"), "sent invalid_request").theirs("code", twice),
        authorize(&and("request=x"), "sent request_not_supported").theirs("code", object),
        authorize(&and("request_uri=https://app.example.org/request"), "sent request_uri_not_supported")
            .theirs("code", object),
    ])
    .await;
}

#[tokio::test]
async fn what_is_sent_empty_is_not_sent() {
    let empty = "RFC 6749 section 3.1: a parameter without a value counts as left out.";
    let to_only = GOOD.replace("{client}", "{other}");
    check(&[
        authorize(&with("scope", ""), "code"),
        authorize(&with("state", ""), "code"),
        authorize(&with("response_type", ""), "sent invalid_request")
            .theirs("sent unsupported_response_type", empty),
        authorize(&to_only.replace("redirect_uri={callback}&", ""), "code"),
        authorize(&to_only.replace("{callback}", ""), "code").theirs("shown invalid_request", empty),
    ])
    .await;
}

#[tokio::test]
async fn a_state_is_carried_up_to_a_length() {
    let long = "The page carries `state`, so its length is limited.";
    check(&[
        authorize(&with("state", &"s".repeat(4096)), "code"),
        authorize(&with("state", &"s".repeat(8192)), "shown invalid_request").theirs("code", long),
    ])
    .await;
}
