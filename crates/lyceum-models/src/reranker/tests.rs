//! Rerankers against fake endpoints: valid responses, invalid ones, and none.

mod peers;

use std::time::{Duration, Instant};

use serde_json::json;

use super::{
    Budget, CohereReranker, CohereSettings, Deferred, LocalSettings, RerankError, Reranker, Settings,
    TeiReranker, TeiSettings, WorkersAiReranker, WorkersAiSettings,
};
use crate::endpoint::peer::{Peer, Reply, assert_key_hidden, failures, key};

struct Pair {
    kind: &'static str,
    peer: Peer,
    reranker: Box<dyn Reranker>,
}

async fn all(budget: Budget) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for kind in ["workers-ai", "tei", "cohere", "voyage"] {
        let peer = Peer::start(peers::valid_reply(kind)).await;
        let reranker = connect(kind, peer.url(), budget).await;
        pairs.push(Pair { kind, peer, reranker });
    }
    pairs
}

async fn connect(kind: &str, url: String, budget_ms: Budget) -> Box<dyn Reranker> {
    let key_env = None;
    match kind {
        "workers-ai" => {
            let model = "@cf/baai/bge-reranker-base".to_owned();
            let account = "a1b2".to_owned();
            let settings = WorkersAiSettings { account, model, key_env, url: Some(url), budget_ms };
            Box::new(WorkersAiReranker::connect(&settings, key()).await.unwrap())
        }
        "tei" => {
            let settings = TeiSettings { url, key_env, budget_ms };
            Box::new(TeiReranker::connect(&settings, key()).await.unwrap())
        }
        _ => {
            let settings =
                CohereSettings { url: url + "/v2", model: "rerank-v3".to_owned(), key_env, budget_ms };
            Box::new(CohereReranker::connect(&settings, key()).await.unwrap())
        }
    }
}

fn passages() -> Vec<String> {
    ["what a hook is", "hooks in react", "", "something else", &"long ".repeat(3_000)]
        .map(str::to_owned)
        .to_vec()
}

/// Short form of an error, for comparison.
fn short(error: &RerankError) -> String {
    match error {
        RerankError::Model(_) => "model".to_owned(),
        RerankError::Loading => "loading".to_owned(),
        RerankError::Unreachable(_) => "unreachable".to_owned(),
        RerankError::Timeout(limit) => format!("late {}ms", limit.as_millis()),
        RerankError::Refused { status: status @ (429 | 503), .. } => format!("busy {status}"),
        RerankError::Refused { status, .. } => format!("refused {status}"),
        RerankError::Malformed(_) => "malformed".to_owned(),
    }
}

#[tokio::test]
async fn one_that_is_made_later_is_known_by_its_own_name_then() {
    let peer = Peer::start(peers::valid_reply("tei")).await;
    let settings = TeiSettings { url: peer.url(), key_env: None, budget_ms: Budget::default() };
    let own = TeiReranker::connect(&settings, key()).await.unwrap();
    let deferred = Deferred::new(Settings::Tei(settings), key());
    assert_eq!(short(&deferred.score("hook", &passages()).await.unwrap_err()), "loading");
    assert_ne!(deferred.identity(), own.identity());
    deferred.prepare().await.unwrap();
    assert_eq!(deferred.identity(), own.identity());
    assert_eq!(deferred.score("hook", &passages()).await.unwrap().len(), passages().len());
}

#[test]
fn settings_have_a_budget_and_no_key() {
    #[track_caller]
    fn check(text: &str, expected: &Settings, budget_ms: u64) {
        let settings: Settings = serde_json::from_str(text).unwrap();
        assert_eq!(&settings, expected);
        assert_eq!(settings.budget(), Duration::from_millis(budget_ms));
        let serialized = serde_json::to_string(expected).unwrap();
        assert_eq!(&serde_json::from_str::<Settings>(&serialized).unwrap(), expected);
    }
    check(r#"{"kind":"none"}"#, &Settings::None, 0);
    check(
        r#"{"kind":"workers-ai","account":"a1b2","key_env":"K"}"#,
        &Settings::WorkersAi(WorkersAiSettings {
            account: "a1b2".to_owned(),
            model: "@cf/baai/bge-reranker-base".to_owned(),
            key_env: Some("K".to_owned()),
            url: None,
            budget_ms: Budget(1_500),
        }),
        1_500,
    );
    check(
        r#"{"kind":"local","folder":"models/reranker","budget_ms":400}"#,
        &Settings::Local(LocalSettings { folder: "models/reranker".into(), budget_ms: Budget(400) }),
        400,
    );
}

#[tokio::test]
async fn every_passage_gets_its_own_score_in_one_request() {
    for Pair { kind, peer, reranker } in all(Budget(5_000)).await {
        let passages = passages();
        let scores = reranker.score("hook", &passages).await.unwrap();
        let sent: Vec<f32> = passages.iter().map(|text| peers::score(text)).collect();
        assert_eq!(scores, sent, "{kind}");
        assert_eq!(peer.requests().len(), 1, "{kind}");
        assert!(reranker.score("hook", &[]).await.unwrap().is_empty());
        assert!(peer.requests().is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn a_failing_endpoint_is_an_error_and_hides_the_key() {
    for Pair { kind, peer, reranker } in all(Budget(5_000)).await {
        for (reply, expected) in failures() {
            peer.next([reply.clone()]);
            let error = reranker.score("hook", &passages()).await.unwrap_err();
            assert!(expected.starts_with(&short(&error)), "{kind} {reply:?}: {error:?}");
            assert_key_hidden(&format!("{error} {error:?} {reranker:?} {}", reranker.identity()));
        }
        assert!(reranker.score("hook", &passages()).await.is_ok(), "{kind}");
    }
}

#[tokio::test]
async fn scores_that_are_not_one_number_for_each_passage_are_not_used() {
    for Pair { kind, peer, reranker } in all(Budget(5_000)).await {
        let check = async |scores: &[(i64, serde_json::Value)]| {
            peer.next([Reply::Json(peers::wire(kind, scores))]);
            let error = reranker.score("hook", &["a".to_owned(), "b".to_owned()]).await.unwrap_err();
            assert_eq!(short(&error), "malformed", "{kind} {scores:?}");
        };
        check(&[]).await;
        check(&[(0, json!(0.5))]).await;
        check(&[(0, json!(0.5)), (1, json!(0.5)), (2, json!(0.5))]).await;
        check(&[(0, json!(0.5)), (0, json!(0.6))]).await;
        check(&[(1, json!(0.5)), (2, json!(0.6))]).await;
        check(&[(-1, json!(0.5)), (0, json!(0.6))]).await;
        check(&[(0, json!(0.5)), (1, json!(null))]).await;
        check(&[(0, json!(0.5)), (1, json!("0.5"))]).await;
        check(&[(0, json!(0.5)), (1, json!(1e39))]).await;
    }
}

#[tokio::test]
async fn a_search_waits_no_longer_than_its_budget_and_reads_no_huge_answer() {
    for Pair { kind, peer, reranker } in all(Budget(60)).await {
        peer.next([Reply::Never]);
        let started = Instant::now();
        let error = reranker.score("hook", &passages()).await.unwrap_err();
        assert_eq!(short(&error), "late 60ms", "{kind}");
        assert!(started.elapsed() < Duration::from_secs(2), "{kind}: {:?}", started.elapsed());
    }
    for Pair { kind, peer, reranker } in all(Budget(10_000)).await {
        peer.next([Reply::Endless(9 << 20)]);
        let error = reranker.score("hook", &passages()).await.unwrap_err();
        assert_eq!(short(&error), "malformed", "{kind}");
        assert!(error.to_string().contains("8 MiB"), "{error}");
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_found_at_set_up() {
    let settings = TeiSettings { url: "localhost".to_owned(), key_env: None, budget_ms: Budget::default() };
    assert_eq!(short(&TeiReranker::connect(&settings, None).await.unwrap_err()), "model");
}
