//! GitHub personal access tokens, sent with each request: `auth.mode = "github-pat"`.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use http::header;
use lyceum::config::AuthMode;
use lyceum_auth::{GitHub, GitHubSettings, Team};
use lyceum_model::Tier;
use lyceum_testkit::TestGitHub;
use serde_json::json;

use super::Stage;
use crate::app::{Request, Response, call, get};

const ALICE: &str = "ghp_alice0123456789";
const BOB: &str = "github_pat_bob_0123456789";
/// A token that another application got from its user.
const GIVEN: &str = "gho_carol0123456789";

/// A server that accepts GitHub tokens, and a GitHub with two users, one of them in the team.
pub(super) async fn start() -> (Stage, TestGitHub) {
    let github = TestGitHub::start().await.unwrap();
    github.add_person(1, "alice", &[ALICE], &["acme/core"]);
    github.add_person(2, "bob", &[BOB], &[]);
    github.add_person(3, "carol", &[GIVEN], &["acme/core"]);
    github.add_reader("gho_operator");
    let settings = GitHubSettings {
        web: github.url(),
        api: github.url(),
        client_id: String::new(),
        client_secret: String::new(),
        token: Some("gho_operator".to_owned()),
        tiers: vec![(Team::parse("acme/core").unwrap(), Tier::Member)],
    };
    let stage = Stage::unregistered(|oauth| {
        oauth.mode = AuthMode::GithubPat;
        oauth.anonymous = false;
        oauth.chains.clear();
        oauth.hats = None;
        oauth.github = Some(GitHub::new(settings).unwrap());
    });
    (stage.await, github)
}

fn info() -> Request {
    call("server_info", &json!({}))
}

fn document() -> Request {
    call("get_document", &json!({ "contentType": "pattern", "id": "none" }))
}

async fn send(stage: &Stage, mut request: Request, header: &str) -> Response {
    request.headers_mut().insert(header::AUTHORIZATION, header.parse().unwrap());
    stage.app.send(request).await
}

fn bearer(token: impl AsRef<[u8]>) -> String {
    format!("Bearer {}", URL_SAFE_NO_PAD.encode(token))
}

#[tokio::test]
async fn whoever_sends_no_token_is_told_to_and_github_is_not_asked() {
    let (stage, github) = start().await;
    assert_eq!(stage.app.send(info()).await.status, 401);
    for header in ["Basic Z2hwXw==", "Bearer", "Bearer ", "Bearer  "] {
        let answer = send(&stage, info(), header).await;
        assert_eq!(answer.status, 401, "{header}");
        assert!(!answer.header("www-authenticate").contains("resource_metadata"));
    }
    assert_eq!(github.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_not_the_encoding_of_a_token_is_refused_and_github_is_not_asked() {
    let (stage, github) = start().await;
    for sent in ["Z2hwX2Fi+w", "Z2hwX2Fi/w", "Z2hwX", ALICE, "!", "Z2hw X2Fi"] {
        assert_eq!(send(&stage, info(), &format!("Bearer {sent}")).await.status, 401, "{sent}");
    }
    for token in ["", "ghp_", "glpat-abc", "ghs_abc", "ghp_a\nb", "ghp_ä", "user:ghp_abc"] {
        assert_eq!(send(&stage, info(), &bearer(token)).await.status, 401, "{token:?}");
    }
    assert_eq!(send(&stage, info(), &bearer(b"ghp_\xff\xfe")).await.status, 401);
    assert_eq!(github.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn a_good_token_reaches_github_as_it_is_and_nowhere_else() {
    let (stage, github) = start().await;
    assert_eq!(send(&stage, document(), &bearer(ALICE)).await.status, 200);
    assert_eq!(github.tokens_of("/user"), [ALICE]);
    // The user of a token is cached for a while; team memberships are read with the operator's token.
    assert_eq!(send(&stage, document(), &bearer(ALICE)).await.status, 200);
    assert_eq!(github.tokens_of("/user"), [ALICE]);
    assert!(github.tokens_of("/user/1").iter().all(|token| token == "gho_operator"));
    let account = send(&stage, get("/account"), &bearer(ALICE)).await.json();
    assert_eq!(account["subject"], "github:1");
}

#[tokio::test]
async fn two_people_have_each_their_own_tier() {
    let (stage, _github) = start().await;
    assert_eq!(send(&stage, document(), &bearer(ALICE)).await.status, 200);
    let refused = send(&stage, document(), &bearer(BOB)).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(!refused.text().contains("github_pat"));
}

#[tokio::test]
async fn a_token_that_github_does_not_know_is_refused_each_time() {
    let (stage, github) = start().await;
    for _ in 0..200 {
        let answer = send(&stage, info(), &bearer("ghp_made_up")).await;
        assert_eq!(answer.status, 401);
        assert!(!answer.text().contains("ghp_"));
    }
    assert_eq!(github.tokens_of("/user"), ["ghp_made_up"]);
}

#[tokio::test]
async fn while_github_can_not_be_asked_nobody_is_let_in() {
    let (stage, github) = start().await;
    github.answer_with(Some(500));
    assert_eq!(send(&stage, info(), &bearer(ALICE)).await.status, 503);
    github.answer_with(None);
    assert_eq!(send(&stage, info(), &bearer(ALICE)).await.status, 200);
}

#[tokio::test]
async fn nothing_of_oauth_is_published() {
    let (stage, _github) = start().await;
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource/mcp",
        "/authorize",
        "/siwe/nonce",
    ] {
        assert_eq!(stage.app.send(get(path)).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn what_an_application_elsewhere_was_given_opens_only_what_is_public() {
    let (stage, _github) = start().await;
    assert_eq!(send(&stage, info(), &bearer(GIVEN)).await.status, 200);
    assert_eq!(send(&stage, document(), &bearer(GIVEN)).await.status, 403);
}

#[tokio::test]
async fn s10_made_up_tokens_are_slowed_down_and_people_are_not() {
    let (stage, github) = start().await;
    assert_eq!(send(&stage, info(), &bearer(ALICE)).await.status, 200);
    let mut refused = None;
    for number in 0..200 {
        let answer = send(&stage, info(), &bearer(format!("ghp_made_up_{number}"))).await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        assert_eq!(answer.status, 401);
    }
    let refused = refused.unwrap();
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1, "{refused:?}");
    assert!(github.tokens_of("/user").len() < 100);
    // Callers with a cached token are still admitted, from the same address too.
    assert_eq!(send(&stage, info(), &bearer(ALICE)).await.status, 200);
}
