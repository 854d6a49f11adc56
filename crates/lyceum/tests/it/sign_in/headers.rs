//! The headers of the sign-in page and related responses.

use super::{CALLBACK, Stage, encoded, form_post, key, with_cookie};
use crate::app::{get, post};

#[tokio::test]
async fn the_page_says_who_asks_for_what_and_lets_nothing_else_in() {
    let stage = Stage::start().await;
    let visit = stage.visit().await;
    let page = &visit.page;
    let server = format!("Sign in to <strong>{}</strong>", stage.app.addr);
    for said in
        ["Test client", "<strong>127.0.0.1</strong>", "knowledge:read", "a program on this computer", &server]
    {
        assert!(page.text().contains(said), "{said}: {}", page.text());
    }
    let policy = page.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "form-action 'self' http://127.0.0.1:4000;",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"));
    assert_eq!(page.header("x-frame-options"), "DENY");
    assert_eq!(page.header("referrer-policy"), "same-origin");
    assert_eq!(page.header("cache-control"), "no-store");
    let cookie = page.header("set-cookie");
    assert!(cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=600"), "{cookie}");
    assert!(stage.app.send(get("/authorize/page.js")).await.body.len() < 4096);
}

#[tokio::test]
async fn a_name_can_not_write_into_the_page() {
    let stage = Stage::start().await;
    let said = serde_json::json!({ "client_name": "<script>alert(1)</script>\" onload=\"x", "redirect_uris": [CALLBACK] });
    let client = stage.app.send(post("/register", said.to_string())).await.json()["client_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let page = stage.app.send(get(&stage.query("").replace(&stage.client, &client))).await;
    assert_eq!(page.status, 200);
    assert!(!page.text().contains("<script>alert"), "{}", page.text());
    assert!(!page.text().contains("\" onload"), "{}", page.text());
}

#[tokio::test]
async fn saying_no_leads_back_and_only_from_the_page_itself() {
    let stage = Stage::start().await;
    let (visit, other) = (stage.visit().await, stage.visit().await);
    let form = format!("stateId={}&do=deny", encoded(&visit.state));
    let without = stage.app.send(form_post("/authorize", &form)).await;
    assert_eq!(without.status, 403);
    let elsewhere = stage.app.send(with_cookie(form_post("/authorize", &form), &other.cookie)).await;
    assert_eq!(elsewhere.status, 403);
    let denied = stage.app.send(with_cookie(form_post("/authorize", &form), &visit.cookie)).await;
    assert_eq!(denied.status, 303);
    assert!(denied.header("location").starts_with(&format!("{CALLBACK}?error=access_denied&")));
    assert_eq!(denied.header("cache-control"), "no-store");
    let nothing = stage.app.send(with_cookie(form_post("/authorize", "do=deny"), &visit.cookie)).await;
    assert_eq!(nothing.status, 400);
}

#[tokio::test]
async fn a_request_that_is_wrong_is_shown_where_its_way_back_is_not_known() {
    let stage = Stage::start().await;
    for (from, to) in [
        (stage.client.as_str(), "nobody"),
        ("4000/callback", "4000/other"),
        ("redirect_uri=http://127", "redirect_uri=https://evil.com/?x="),
    ] {
        let answer = stage.app.send(get(&stage.query("").replace(from, to))).await;
        assert_eq!((answer.status, answer.header("location")), (400, ""), "{to}");
        assert!(answer.header("content-type").starts_with("text/html"));
    }
    let answer = stage.app.send(get(&stage.query("").replace("S256", "plain"))).await;
    assert_eq!(answer.status, 302);
    let location = answer.header("location");
    assert!(location.starts_with(&format!("{CALLBACK}?error=invalid_request&")), "{location}");
    assert!(location.contains("&state=s1&iss=http%3A%2F%2F127.0.0.1"), "{location}");
}

#[tokio::test]
async fn whoever_signed_in_before_is_asked_again() {
    let stage = Stage::start().await;
    let visit = stage.visit().await;
    let signed = stage.sign(&visit, &key(1)).await;
    assert_eq!(stage.verify(&visit, &signed).await.status, 200);
    let again = stage.app.send(with_cookie(get(&stage.query("")), &visit.cookie)).await;
    assert_eq!((again.status, again.header("location")), (200, ""));
}

#[tokio::test]
async fn over_tls_the_cookie_is_of_this_very_host() {
    let mut stage = Stage::of("public_url = \"https://mcp.example.org\"", |_| {}).await;
    let said = serde_json::json!({ "redirect_uris": [CALLBACK] });
    let registered = stage.app.send(post("/register", said.to_string())).await.json();
    stage.client = registered["client_id"].as_str().unwrap().to_owned();
    let page = stage.visit().await.page;
    let cookie = page.header("set-cookie");
    assert!(cookie.starts_with("__Host-lyceum-sign-in=") && cookie.ends_with("; Secure"), "{cookie}");
    assert!(!cookie.contains("Domain"), "{cookie}");
}

#[tokio::test]
async fn nobody_is_sent_to_a_site_by_an_address_of_ours_alone() {
    let stage = Stage::start().await;
    let said = serde_json::json!({ "redirect_uris": ["https://evil.example.org/x?y=1"] });
    let registered = stage.app.send(post("/register", said.to_string())).await.json();
    let client = registered["client_id"].as_str().unwrap();
    let shown = stage.app.send(get(&format!("/authorize?client_id={client}"))).await;
    assert_eq!((shown.status, shown.header("location")), (400, ""));
    assert!(
        shown.text().contains("<a href=\"https://evil.example.org/x?y=1&#38;error=invalid_request"),
        "{}",
        shown.text()
    );
    assert!(shown.text().contains("Tell evil.example.org that it did not work"));
}
