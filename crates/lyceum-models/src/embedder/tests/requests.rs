//! Requests: batches, truncation, prefixes; and the identity of a model.

use super::{
    super::{Identity, Pooling, Purpose, RemoteSettings},
    Pair, all, all_with, peers, texts,
};

async fn sizes(pair: &Pair, count: usize) -> Vec<usize> {
    let texts = texts(count);
    let vectors = pair.embedder.embed(Purpose::Passage, &texts).await.unwrap();
    let expected: Vec<_> = texts.iter().map(|text| peers::unit(text)).collect();
    peers::assert_near(pair.kind, &vectors, &expected);
    pair.peer.requests().iter().map(|expected| peers::texts_of(expected).len()).collect()
}

#[tokio::test]
async fn texts_go_out_in_batches_that_the_endpoint_takes() {
    for pair in all().await {
        let expected = if pair.kind == "tei" { vec![32, 32, 32, 32, 22] } else { vec![64, 64, 22] };
        assert_eq!(sizes(&pair, 150).await, expected, "{}", pair.kind);
    }
    for pair in all_with(&RemoteSettings { batch: 500, ..RemoteSettings::default() }).await {
        let expected = match pair.kind {
            "tei" => vec![32, 32, 32, 32, 22],
            "workers-ai" => vec![100, 50],
            _ => vec![150],
        };
        assert_eq!(sizes(&pair, 150).await, expected, "{}", pair.kind);
    }
    for pair in all_with(&RemoteSettings { batch: 0, ..RemoteSettings::default() }).await {
        assert_eq!(sizes(&pair, 2).await, [1, 1], "{}", pair.kind);
    }
}

#[tokio::test]
async fn long_texts_are_cut_and_empty_ones_do_not_spoil_their_batch() {
    for Pair { kind, peer, embedder } in all().await {
        let sent = ["é".repeat(9_000), String::new(), " \n".to_owned(), "text".to_owned()];
        embedder.embed(Purpose::Passage, &sent).await.unwrap();
        let got = peers::texts_of(&peer.requests()[0]);
        assert_eq!(got, ["é".repeat(8_000), "-".to_owned(), "-".to_owned(), "text".to_owned()], "{kind}");
    }
}

#[tokio::test]
async fn questions_and_passages_have_their_own_prefix() {
    let prefixed = RemoteSettings {
        query_prefix: "query: ".to_owned(),
        passage_prefix: "passage: ".to_owned(),
        ..RemoteSettings::default()
    };
    for Pair { kind, peer, embedder } in all_with(&prefixed).await {
        for (purpose, expected) in [(Purpose::Query, "query: text 0"), (Purpose::Passage, "passage: text 0")]
        {
            embedder.embed(purpose, &texts(1)).await.unwrap();
            assert_eq!(peers::texts_of(&peer.requests()[0]), [expected], "{kind}");
        }
    }
}

#[tokio::test]
async fn a_model_is_known_by_what_makes_its_vectors_different() {
    for pair in all().await {
        let (name, pooling, max_tokens) = match pair.kind {
            "openai" => ("good-model", Pooling::Remote, 8_191),
            "ollama" => ("good-model", Pooling::Remote, 512),
            "tei" => ("BAAI/bge-base-en-v1.5@fca14538", Pooling::Cls, 384),
            _ => ("@cf/baai/bge-base-en-v1.5", Pooling::Cls, 512),
        };
        let expected = Identity {
            kind: pair.kind.to_owned(),
            name: name.to_owned(),
            sha256: None,
            pooling,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            dimensions: peers::DIMENSIONS,
            max_tokens,
        };
        assert_eq!(pair.embedder.identity(), &expected);
    }
}
