//! Made-up GitHub tokens, against a fake GitHub.

use std::{net::IpAddr, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use lyceum_model::Caller;
use serde_json::json;

use super::{
    Bench, ISSUER,
    fake_server::{FakeResponse, FakeServer, ReceivedRequest},
};
use crate::{AdmissionError, GitHub, GitHubSettings};

const GOOD: &str = "ghp_good";
const EARLIER: &str = "ghp_earlier";

/// A GitHub that hangs on unknown tokens.
fn slow(request: &ReceivedRequest) -> FakeResponse {
    match request.headers.get("authorization").map(String::as_str) {
        Some("Bearer ghp_good") => FakeResponse::json(&json!({ "id": 1, "login": "ana" })),
        Some("Bearer ghp_earlier") => FakeResponse::json(&json!({ "id": 2, "login": "ben" })),
        _ => FakeResponse::Hang,
    }
}

/// A GitHub that rejects unknown tokens at once.
fn quick(request: &ReceivedRequest) -> FakeResponse {
    match slow(request) {
        FakeResponse::Hang => FakeResponse::Status(401, "{\"message\":\"Bad credentials\"}".to_owned()),
        answer => answer,
    }
}

fn bench(github: &FakeServer) -> Arc<Bench> {
    let (web, api) = (github.url.clone(), github.url.clone());
    let settings = GitHubSettings {
        web,
        api,
        client_id: String::new(),
        client_secret: String::new(),
        token: None,
        tiers: Vec::new(),
    };
    Arc::new(Bench::with(|bench| {
        bench.github = Some(GitHub::new(settings).unwrap());
        bench.takes_pats = true;
    }))
}

async fn admit(bench: &Bench, from: u8, token: &str) -> Result<std::sync::Arc<Caller>, AdmissionError> {
    let from = Some(IpAddr::from([10, 0, 0, from]));
    let token = URL_SAFE_NO_PAD.encode(token);
    bench.auth.admit_from(from, Some(&token), &format!("{ISSUER}/mcp"), bench.now).await
}

/// Waits until GitHub received that many requests.
async fn wait_for_requests(github: &FakeServer, count: usize) {
    let mut seen = 0;
    let all = async {
        while seen < count {
            seen += github.take_requests().len();
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all).await.unwrap();
}

#[tokio::test]
async fn s10_a_token_that_is_nobodys_is_asked_about_once_in_a_minute() {
    let github = FakeServer::start(quick).await;
    let mut bench = Arc::into_inner(bench(&github)).unwrap();
    for _ in 0..20 {
        assert_eq!(admit(&bench, 1, "ghp_made_up").await.unwrap_err(), AdmissionError::BadToken);
    }
    assert_eq!(github.take_requests().len(), 1);
    let sent = URL_SAFE_NO_PAD.encode("ghp_made_up");
    assert!(!bench.auth.is_new(&sent, bench.now) && bench.auth.is_new("Z2hwX25ldw", bench.now));
    bench.later(61);
    assert!(bench.auth.is_new(&sent, bench.now));
    assert_eq!(admit(&bench, 1, "ghp_made_up").await.unwrap_err(), AdmissionError::BadToken);
    assert_eq!(github.take_requests().len(), 1);
}

#[tokio::test]
async fn a_thousand_concurrent_requests_with_a_new_token_make_one_lookup() {
    let github = FakeServer::start(quick).await;
    let bench = bench(&github);
    let admitted = futures::future::join_all((0..1_000).map(|_| admit(&bench, 1, GOOD))).await;
    for one in admitted {
        assert_eq!(one.unwrap().subject().map(ToString::to_string).as_deref(), Some("github:1"));
    }
    assert_eq!(github.take_requests().len(), 1);
}

#[tokio::test]
async fn s10_made_up_tokens_of_one_address_keep_nobody_else_out() {
    let github = FakeServer::start(slow).await;
    let bench = bench(&github);
    let flood: Vec<_> = (0..16)
        .map(|number| {
            let bench = bench.clone();
            tokio::spawn(async move { admit(&bench, 1, &format!("ghp_made_up_{number}")).await })
        })
        .collect();
    wait_for_requests(&github, 4).await;
    let good = admit(&bench, 2, GOOD).await;
    assert!(good.is_ok(), "{good:?}");
    assert_eq!(github.take_requests().len(), 1, "an address has at most four concurrent lookups");
    flood.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn s10_whoever_was_let_in_before_has_a_place_whatever_strangers_send() {
    let github = FakeServer::start(slow).await;
    let mut bench = Arc::into_inner(bench(&github)).unwrap();
    assert!(admit(&bench, 1, EARLIER).await.is_ok());
    bench.later(301);
    let bench = Arc::new(bench);
    github.take_requests();
    let flood: Vec<_> = (0..60)
        .map(|number| {
            let bench = bench.clone();
            tokio::spawn(async move { admit(&bench, number, &format!("ghp_made_up_{number}")).await })
        })
        .collect();
    wait_for_requests(&github, 12).await;
    assert_eq!(admit(&bench, 200, GOOD).await.unwrap_err(), AdmissionError::Unavailable);
    let earlier = admit(&bench, 1, EARLIER).await;
    assert!(earlier.is_ok(), "{earlier:?}");
    flood.iter().for_each(tokio::task::JoinHandle::abort);
}
