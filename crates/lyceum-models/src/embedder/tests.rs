//! Embedders against fake endpoints: valid responses, invalid ones, and none.

mod failures;
mod peers;
mod requests;

use std::time::Duration;

use super::{
    EmbedError, Embedder, LocalSettings, OllamaEmbedder, OllamaSettings, OpenAiEmbedder, OpenAiSettings,
    Purpose, RemoteSettings, Settings, TeiEmbedder, TeiSettings, WorkersAiEmbedder, WorkersAiSettings,
};
use crate::endpoint::peer::{KEY, Peer, key};

/// An embedder and its fake endpoint.
struct Pair {
    kind: &'static str,
    peer: Peer,
    embedder: Box<dyn Embedder>,
}

/// One of each kind.
async fn all() -> Vec<Pair> {
    all_with(&RemoteSettings::default()).await
}

async fn all_with(remote: &RemoteSettings) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for kind in ["openai", "ollama", "tei", "workers-ai"] {
        let peer = Peer::start(peers::valid_reply(kind)).await;
        let embedder = connect(&settings(kind, &peer, remote)).await.unwrap();
        peer.requests();
        pairs.push(Pair { kind, peer, embedder });
    }
    pairs
}

fn settings(kind: &str, peer: &Peer, remote: &RemoteSettings) -> Settings {
    let (url, remote) = (peer.url(), remote.clone());
    let key_env = Some("SEARCH_KEY".to_owned());
    let model = "good-model".to_owned();
    match kind {
        "openai" => {
            let url = format!("{url}/v1");
            Settings::OpenAi(OpenAiSettings { url, model, key_env, dimensions: None, remote })
        }
        "ollama" => Settings::Ollama(OllamaSettings { url, model, key_env, remote }),
        "tei" => Settings::Tei(TeiSettings { url, key_env, remote }),
        _ => {
            let model = "@cf/baai/bge-base-en-v1.5".to_owned();
            let url = Some(format!("{url}/client/v4"));
            Settings::WorkersAi(WorkersAiSettings { account: "a1b2".to_owned(), model, key_env, url, remote })
        }
    }
}

async fn connect(settings: &Settings) -> Result<Box<dyn Embedder>, EmbedError> {
    Ok(match settings {
        Settings::OpenAi(settings) => Box::new(OpenAiEmbedder::connect(settings, key()).await?),
        Settings::Ollama(settings) => Box::new(OllamaEmbedder::connect(settings, key()).await?),
        Settings::Tei(settings) => Box::new(TeiEmbedder::connect(settings, key()).await?),
        Settings::WorkersAi(settings) => Box::new(WorkersAiEmbedder::connect(settings, key()).await?),
        Settings::None | Settings::Local(_) => panic!("not a remote embedder"),
    })
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("text {number}")).collect()
}

/// Short form of an error, for comparison.
fn short(error: &EmbedError) -> String {
    let seconds =
        |wait: &Option<Duration>| wait.map_or_else(String::new, |wait| format!(" {}s", wait.as_secs()));
    match error {
        EmbedError::Model(_) => "model".to_owned(),
        EmbedError::Unreachable(_) => "unreachable".to_owned(),
        EmbedError::Timeout(limit) => format!("late {}s", limit.as_secs()),
        EmbedError::Busy { status, retry_after } => format!("busy {status}{}", seconds(retry_after)),
        EmbedError::Refused { status, message } => {
            assert!(message.chars().count() <= 200, "{message}");
            format!("refused {status}")
        }
        EmbedError::Malformed(_) => "malformed".to_owned(),
        EmbedError::WrongCount { .. } => "wrong count".to_owned(),
        EmbedError::WrongDimensions { .. } => "wrong dimensions".to_owned(),
    }
}

#[test]
fn settings_are_kept_as_they_are_and_hold_no_key() {
    #[track_caller]
    fn check(settings: &Settings, expected: &str) {
        let serialized = serde_json::to_string(settings).unwrap();
        assert_eq!(&serde_json::from_str::<Settings>(&serialized).unwrap(), settings);
        assert_eq!(&serde_json::from_str::<Settings>(expected).unwrap(), settings);
        assert!(!serialized.contains(KEY), "{serialized}");
    }
    let remote = RemoteSettings::default();
    check(&Settings::None, r#"{"kind":"none"}"#);
    check(
        &Settings::Local(LocalSettings {
            model: "all-MiniLM-L6-v2".to_owned(),
            folder: None,
            pooling: None,
            query_prefix: None,
            passage_prefix: None,
            max_tokens: None,
        }),
        r#"{"kind":"local","model":"all-MiniLM-L6-v2"}"#,
    );
    check(
        &Settings::OpenAi(OpenAiSettings {
            url: "http://h/v1".to_owned(),
            model: "m".to_owned(),
            key_env: Some("K".to_owned()),
            dimensions: Some(256),
            remote: remote.clone(),
        }),
        r#"{"kind":"openai","url":"http://h/v1","model":"m","key_env":"K","dimensions":256}"#,
    );
    check(
        &Settings::Ollama(OllamaSettings {
            url: "http://h".to_owned(),
            model: "m".to_owned(),
            key_env: None,
            remote: RemoteSettings { batch: 8, query_prefix: "query: ".to_owned(), ..remote },
        }),
        r#"{"kind":"ollama","url":"http://h","model":"m","batch":8,"query_prefix":"query: "}"#,
    );
}

#[tokio::test]
async fn every_text_gets_its_own_vector_whatever_the_order_of_the_answer() {
    for Pair { kind, embedder, .. } in all().await {
        let texts = texts(7);
        for purpose in [Purpose::Query, Purpose::Passage] {
            let vectors = embedder.embed(purpose, &texts).await.unwrap();
            let expected: Vec<_> = texts.iter().map(|text| peers::unit(text)).collect();
            peers::assert_near(kind, &vectors, &expected);
        }
        assert!(embedder.embed(Purpose::Passage, &[]).await.unwrap().is_empty());
    }
}
