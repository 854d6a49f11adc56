//! Invalid responses never yield a vector, and errors never contain the key.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    super::{EmbedError, OpenAiEmbedder, OpenAiSettings, Purpose, RemoteSettings, TeiEmbedder},
    Pair, all, peers, settings, short, texts,
};
use crate::{
    embedder::Settings,
    endpoint::peer::{Peer, Reply, assert_key_hidden, failures, key},
};

async fn ask(pair: &Pair, purpose: Purpose, replies: Vec<Reply>) -> Result<Vec<Vec<f32>>, EmbedError> {
    pair.peer.next(replies);
    let answer = pair.embedder.embed(purpose, &texts(3)).await;
    pair.peer.next([]);
    answer
}

#[tokio::test]
async fn a_failing_endpoint_is_an_error_at_once_for_a_search_and_hides_the_key() {
    for pair in all().await {
        for (reply, expected) in failures() {
            let error = ask(&pair, Purpose::Query, vec![reply.clone()]).await.unwrap_err();
            assert_eq!(short(&error), expected, "{} {reply:?}", pair.kind);
            assert_key_hidden(&format!("{error} {error:?} {:?}", pair.embedder));
            assert_eq!(pair.peer.requests().len(), 1, "{} {reply:?}", pair.kind);
        }
        assert!(ask(&pair, Purpose::Query, vec![]).await.is_ok(), "{}", pair.kind);
    }
}

#[tokio::test]
async fn vectors_that_are_not_what_was_asked_for_are_not_used() {
    #[track_caller]
    fn check(kind: &str, answer: Result<Vec<Vec<f32>>, EmbedError>, expected: &[&str]) {
        let error = answer.unwrap_err();
        assert!(expected.contains(&short(&error).as_str()), "{kind}: {error:?} is not one of {expected:?}");
    }
    for pair in all().await {
        let kind = pair.kind;
        let good: Vec<Vec<f32>> = texts(3).iter().map(|text| peers::vector(text)).collect();
        let with = |change: &dyn Fn(&mut Vec<Vec<f32>>)| {
            let mut vectors = good.clone();
            change(&mut vectors);
            Reply::Json(peers::wire(kind, &vectors))
        };
        // Values that JSON can't express are inserted as text.
        let with_number = |number: &str| {
            let mut vectors = good.clone();
            vectors[1][2] = 31_337.0;
            Reply::Status(200, Vec::new(), peers::wire(kind, &vectors).to_string().replace("31337.0", number))
        };
        let wrong = [
            (with(&|all| drop(all.pop())), vec!["wrong count"]),
            (with(&|all| all.push(all[0].clone())), vec!["wrong count"]),
            (with(&Vec::clear), vec!["wrong count"]),
            (with(&|all| all.iter_mut().for_each(|one| one.truncate(5))), vec!["wrong dimensions"]),
            (with(&|all| all[2].push(1.0)), vec!["wrong dimensions", "malformed"]),
            (with(&|all| all[1].clear()), vec!["wrong dimensions", "malformed"]),
            (with(&|all| all[1].fill(0.0)), vec!["malformed"]),
            (with_number("NaN"), vec!["malformed"]),
            (with_number("Infinity"), vec!["malformed"]),
            (with_number("1e39"), vec!["malformed"]),
            (with_number("1e999"), vec!["malformed"]),
            (with_number("null"), vec!["malformed"]),
            (with_number("\"1\""), vec!["malformed"]),
        ];
        for (reply, expected) in wrong {
            check(kind, ask(&pair, Purpose::Query, vec![reply]).await, &expected);
        }
    }
}

#[tokio::test]
async fn an_index_that_is_missing_or_there_twice_gives_no_vectors() {
    let peer = Peer::start(peers::valid_reply("openai")).await;
    let embedder = super::connect(&settings("openai", &peer, &RemoteSettings::default())).await.unwrap();
    let pair = Pair { kind: "openai", peer, embedder };
    for indices in [[0, 1, 1], [1, 2, 3], [0, 2, 7]] {
        let item = |index: usize| json!({ "index": index, "embedding": peers::vector("x") });
        let data: Vec<Value> = indices.into_iter().map(item).collect();
        let answer = ask(&pair, Purpose::Query, vec![Reply::Json(json!({ "data": data }))]).await;
        assert_eq!(short(&answer.unwrap_err()), "malformed", "{indices:?}");
    }
}

#[tokio::test]
async fn an_answer_of_workers_ai_says_itself_whether_it_is_one() {
    let peer = Peer::start(peers::valid_reply("workers-ai")).await;
    let embedder = super::connect(&settings("workers-ai", &peer, &RemoteSettings::default())).await.unwrap();
    let pair = Pair { kind: "workers-ai", peer, embedder };
    let vectors = vec![peers::vector("x"); 3];
    let right = peers::wire("workers-ai", &vectors);
    let with = |pointer: &str, value: Value| {
        let mut answer = right.clone();
        *answer.pointer_mut(pointer).unwrap() = value;
        vec![Reply::Json(answer)]
    };
    for wrong in [
        with("/success", json!(false)),
        with("/result", Value::Null),
        with("/result/shape", json!([3, 7])),
        with("/result/shape", json!([2, 6])),
        with("/result/pooling", json!("mean")),
    ] {
        let answer = ask(&pair, Purpose::Query, wrong.clone()).await;
        assert_eq!(short(&answer.unwrap_err()), "malformed", "{wrong:?}");
    }
    assert!(ask(&pair, Purpose::Query, vec![Reply::Json(right)]).await.is_ok());
}

#[tokio::test]
async fn what_is_embedded_in_the_background_is_tried_three_times() {
    let later = |status, seconds: &str| {
        Reply::Status(status, vec![("retry-after", seconds.to_owned())], String::new())
    };
    let broken = Reply::Status(500, Vec::new(), String::new());
    for pair in all().await {
        let kind = pair.kind;
        let vectors = ask(&pair, Purpose::Passage, vec![later(429, "0"), later(503, "0")]).await.unwrap();
        let expected: Vec<_> = texts(3).iter().map(|text| peers::unit(text)).collect();
        peers::assert_near(kind, &vectors, &expected);
        assert_eq!(pair.peer.requests().len(), 3, "{kind}");

        let error = ask(&pair, Purpose::Passage, vec![later(429, "0"); 5]).await.unwrap_err();
        assert_eq!((short(&error).as_str(), pair.peer.requests().len()), ("busy 429 0s", 3), "{kind}");

        // A long `Retry-After` and permanent errors are not retried.
        let error = ask(&pair, Purpose::Passage, vec![later(503, "60")]).await.unwrap_err();
        assert_eq!((short(&error).as_str(), pair.peer.requests().len()), ("busy 503 60s", 1), "{kind}");
        let refused = Reply::Status(400, Vec::new(), "no".to_owned());
        let error = ask(&pair, Purpose::Passage, vec![refused]).await.unwrap_err();
        assert_eq!((short(&error).as_str(), pair.peer.requests().len()), ("refused 400", 1), "{kind}");
    }
    let pair = all().await.pop().unwrap();
    let started = Instant::now();
    ask(&pair, Purpose::Passage, vec![broken, Reply::Cut]).await.unwrap();
    assert_eq!(pair.peer.requests().len(), 3);
    assert!(started.elapsed() >= Duration::from_millis(1_250), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_search_does_not_wait_for_a_slow_endpoint_nor_read_a_huge_answer() {
    let pair = all().await.pop().unwrap();
    let started = Instant::now();
    let error = ask(&pair, Purpose::Query, vec![Reply::Never]).await.unwrap_err();
    assert_eq!(short(&error), "late 2s");
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    let error = ask(&pair, Purpose::Query, vec![Reply::Endless(80 << 20)]).await.unwrap_err();
    // On a loaded machine the timeout may come first.
    assert!(["malformed", "late 2s"].contains(&short(&error).as_str()), "{error:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_so_the_key_stays_here() {
    let elsewhere = Peer::start(peers::valid_reply("openai")).await;
    let pair = all().await.swap_remove(0);
    let location = vec![("location", format!("{}/v1/embeddings", elsewhere.url()))];
    let error =
        ask(&pair, Purpose::Query, vec![Reply::Status(308, location, String::new())]).await.unwrap_err();
    assert_eq!(short(&error), "refused 308");
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_unreachable() {
    for Pair { kind, peer, embedder } in all().await {
        drop(peer);
        // The aborted server task ends when the runtime polls it next.
        let mut seen = String::new();
        for _ in 0..100 {
            match embedder.embed(Purpose::Query, &texts(1)).await {
                Err(error) => {
                    seen = short(&error);
                    break;
                }
                Ok(_) => tokio::task::yield_now().await,
            }
        }
        assert_eq!(seen, "unreachable", "{kind}");
    }
}

#[tokio::test]
async fn a_model_that_can_not_be_met_says_why() {
    let openai = async |change: &dyn Fn(&mut OpenAiSettings), replies: Vec<Reply>, key| {
        let peer = Peer::start(peers::valid_reply("openai")).await;
        peer.next(replies);
        let Settings::OpenAi(mut settings) = settings("openai", &peer, &RemoteSettings::default()) else {
            panic!("another kind")
        };
        change(&mut settings);
        short(&OpenAiEmbedder::connect(&settings, key).await.unwrap_err())
    };
    assert_eq!(openai(&|_| {}, vec![], None).await, "refused 401");
    assert_eq!(openai(&|all| all.model = "other".to_owned(), vec![], key()).await, "refused 404");
    assert_eq!(openai(&|all| all.url = "example.com".to_owned(), vec![], key()).await, "model");
    assert_eq!(openai(&|all| all.dimensions = Some(7), vec![], key()).await, "wrong dimensions");
    for nothing in [json!({ "data": [] }), json!({ "data": [{ "index": 0, "embedding": [] }] })] {
        let error = openai(&|_| {}, vec![Reply::Json(nothing); 3], key()).await;
        assert!(["wrong count", "malformed"].contains(&error.as_str()), "{error}");
    }

    let peer = Peer::start(peers::valid_reply("tei")).await;
    let Settings::Tei(tei) = settings("tei", &peer, &RemoteSettings::default()) else {
        panic!("another kind")
    };
    peer.next([Reply::Json(json!({
        "model_id": "BAAI/bge-reranker-base",
        "model_type": { "reranker": { "id2label": { "0": "LABEL_0" }, "label2id": { "LABEL_0": 0 } } },
        "max_input_length": 512,
        "max_client_batch_size": 32,
    }))]);
    assert_eq!(short(&TeiEmbedder::connect(&tei, key()).await.unwrap_err()), "model");
}
