//! Size limits of response bodies.

use crate::{BodyError, ClientOptions, client, client::tests::server, read_body, read_start};

async fn answer(text: &'static str) -> reqwest::Response {
    let url = server(text).await;
    client(&url, ClientOptions::default()).unwrap().get(url).send().await.unwrap()
}

const NINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nnine long";

#[tokio::test]
async fn a_body_is_read_whole_or_not_at_all() {
    assert_eq!(read_body(answer(NINE).await, 9).await.unwrap(), b"nine long");
    let error = read_body(answer(NINE).await, 8).await.unwrap_err();
    assert!(matches!(error, BodyError::TooLarge { limit: 8 }));
    assert_eq!(error.to_string(), "the response is larger than 8 bytes");
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nnine\r\n5\r\n long\r\n0\r\n\r\n";
    assert!(read_body(answer(chunked).await, 8).await.is_err());
}

#[tokio::test]
async fn the_start_of_a_body_is_cut_at_the_limit() {
    assert_eq!(read_start(answer(NINE).await, 4).await, b"nine");
    assert_eq!(read_start(answer(NINE).await, 100).await, b"nine long");
    assert_eq!(
        read_start(answer("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await, 4)
            .await,
        b""
    );
}
