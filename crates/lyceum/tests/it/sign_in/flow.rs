//! The whole flow: from the first 401 to a successful call.

use lyceum_testkit::ChainBehavior;
use serde_json::json;

use super::{MEMBER, Stage, address, encoded, form_post, key, sign, tokens, with_cookie, with_token};
use crate::app::{call, get};

/// A document that only members may read in full.
fn wanted() -> crate::app::Request {
    call("search_with_documents", &json!({ "query": "governance" }))
}

#[tokio::test]
async fn a_member_signs_in_and_reads_what_members_may() {
    let stage = Stage::start().await;
    let refused = stage.app.send(wanted()).await;
    assert_eq!(refused.status, 401);
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let tokens = stage.sign_in(&key(1)).await;
    assert_eq!(tokens.scope, "knowledge:read mcp:read");
    let answer = stage.app.send(with_token(wanted(), &tokens.access)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_ne!(answer.result()["isError"], json!(true), "{answer:?}");
    let listed = stage.app.send(with_token(get("/tools"), &tokens.access)).await;
    assert!(listed.text().contains("\"search_with_documents\""));
    assert!(!listed.text().contains("\"refresh_sources\""));
    assert!(stage.chain.requests() > 0 && !stage.chain.was_shown_credentials());
}

#[tokio::test]
async fn somebody_without_a_hat_signs_in_and_is_told_what_is_missing() {
    let stage = Stage::start().await;
    let tokens = stage.sign_in(&key(2)).await;
    assert_eq!(tokens.scope, "mcp:read");
    let answer = stage.app.send(with_token(wanted(), &tokens.access)).await;
    assert_eq!(answer.status, 403);
    let issuer = format!("http://{}", stage.app.addr);
    assert_eq!(
        answer.header("www-authenticate"),
        format!(
            "Bearer error=\"insufficient_scope\", resource_metadata=\"{issuer}/.well-known/oauth-protected-resource/mcp\", scope=\"knowledge:read mcp:read\""
        )
    );
    assert_eq!(answer.result()["content"][0]["text"], "Access denied. This tool requires member access.");
}

#[tokio::test]
async fn a_hat_that_is_given_or_taken_counts_at_the_next_refresh() {
    let stage = Stage::start().await;
    let first = stage.sign_in(&key(1)).await;
    assert_eq!(stage.app.send(with_token(wanted(), &first.access)).await.status, 403);
    // The user agreed to more scopes than they had; scopes that they did not agree to are not added later.
    let less = stage.sign_in_for("mcp:read", &key(1)).await;
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let member = tokens(&stage.refresh(&first.refresh).await);
    assert_eq!(member.scope, "knowledge:read mcp:read");
    assert_eq!(tokens(&stage.refresh(&less.refresh).await).scope, "mcp:read");
    assert_eq!(stage.app.send(with_token(wanted(), &member.access)).await.status, 200);
    stage.chain.take_off(&address(&key(1)), MEMBER);
    let after = tokens(&stage.refresh(&member.refresh).await);
    assert_eq!(after.scope, "mcp:read");
    for token in [&after.access, &member.access] {
        assert_eq!(stage.app.send(with_token(wanted(), token)).await.status, 403);
    }
}

#[tokio::test]
async fn while_the_chain_is_down_a_refresh_is_503_and_the_token_stays_good() {
    let stage = Stage::start().await;
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let first = stage.sign_in(&key(1)).await;
    for answers in
        [ChainBehavior::With(500), ChainBehavior::With(429), ChainBehavior::Garbage, ChainBehavior::Refusing]
    {
        stage.chain.behave(answers);
        let answer = stage.refresh(&first.refresh).await;
        assert_eq!((answer.status, answer.json()["error"].as_str()), (503, Some("temporarily_unavailable")));
        assert_eq!(answer.header("retry-after"), "5");
    }
    stage.chain.behave(ChainBehavior::Normally);
    assert_eq!(tokens(&stage.refresh(&first.refresh).await).scope, "knowledge:read mcp:read");
}

#[tokio::test]
async fn while_the_chain_is_down_nobody_signs_in_and_nothing_is_used_up() {
    let stage = Stage::start().await;
    let visit = stage.visit().await;
    let signed = stage.sign(&visit, &key(1)).await;
    stage.chain.behave(ChainBehavior::With(500));
    let answer = stage.verify(&visit, &signed).await;
    assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (503, Some("UNAVAILABLE")));
    stage.chain.behave(ChainBehavior::Normally);
    assert_eq!(stage.verify(&visit, &signed).await.status, 200);
    let again = stage.verify(&visit, &signed).await;
    assert_eq!(again.status, 400, "{again:?}");
}

#[tokio::test]
async fn an_endpoint_of_another_chain_gives_nobody_a_hat() {
    let stage = Stage::start().await;
    stage.chain.become_chain(1);
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let visit = stage.visit().await;
    let signed = stage.sign(&visit, &key(1)).await;
    assert_eq!(stage.verify(&visit, &signed).await.status, 503);
}

#[tokio::test]
async fn a_signature_of_another_key_is_refused() {
    let stage = Stage::start().await;
    let visit = stage.visit().await;
    let (message, _) = stage.sign(&visit, &key(1)).await;
    let forged = sign(&key(2), &message);
    let answer = stage.verify(&visit, &(message, forged)).await;
    assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (401, Some("UNAUTHORIZED")));
}

#[tokio::test]
async fn a_key_of_the_operator_signs_in_at_the_page_and_by_itself() {
    let token = lyceum_auth::Token::random(lyceum_auth::Kind::Key).unwrap();
    let hash = token.hash().0;
    let stage = Stage::with(|oauth| {
        oauth.keys.push(lyceum_auth::ApiKey {
            name: "ci".to_owned(),
            hash,
            tier: lyceum_model::Tier::Member,
        });
    })
    .await;
    assert_eq!(stage.app.send(with_token(wanted(), token.reveal())).await.status, 200);
    let visit = stage.visit().await;
    let form = |key: &str| format!("stateId={}&do=key&key={}", encoded(&visit.state), encoded(key));
    let send =
        async |form: String| stage.app.send(with_cookie(form_post("/authorize", &form), &visit.cookie)).await;
    let wrong = send(form("lyc_key_wrong")).await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.text().contains("Invalid API key."));
    let right = send(form(token.reveal())).await;
    assert_eq!(right.status, 303, "{right:?}");
    assert!(right.header("location").starts_with("http://127.0.0.1:4000/callback?code=lyc_ac_"));
}
