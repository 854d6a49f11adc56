//! Client options, against a small server.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;

/// Starts a server that sends the same response on each connection and then keeps it open. `{port}` in the
/// response is replaced by its port.
pub(crate) async fn server(answer: &'static str) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = answer.replace("{port}", &port.to_string());
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let _request = stream.read(&mut [0; 4096]).await;
            let _gone = stream.write_all(answer.as_bytes()).await;
            open.push(stream);
        }
    });
    Url::parse(&format!("http://127.0.0.1:{port}/")).unwrap()
}

#[tokio::test]
async fn a_redirect_is_followed_only_where_that_was_chosen() {
    let url =
        server("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{port}/x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            .await;
    let refuses = client(&url, ClientOptions::default()).unwrap();
    assert_eq!(refuses.get(url.clone()).send().await.unwrap().status(), 302);
    let options = ClientOptions { redirects: Redirects::Follow(3), ..ClientOptions::default() };
    let error = client(&url, options).unwrap().get(url).send().await.unwrap_err();
    assert!(error.is_redirect(), "{error}");
}

#[tokio::test]
async fn a_client_that_follows_never_goes_from_https_to_plain_http() {
    let plain = server("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let options = ClientOptions { redirects: Redirects::Follow(3), ..ClientOptions::default() };
    let secure = client(&Url::parse("https://127.0.0.1/").unwrap(), options).unwrap();
    assert!(secure.get(plain.clone()).send().await.is_err());
    assert!(client(&plain, options).unwrap().get(plain).send().await.is_ok());
}

#[tokio::test]
async fn a_server_that_stops_in_the_middle_is_given_up_in_time() {
    let url = server("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").await;
    let limit = Some(Duration::from_millis(50));
    for options in [
        ClientOptions { read_timeout: limit, ..ClientOptions::default() },
        ClientOptions { timeout: limit, ..ClientOptions::default() },
    ] {
        let response = client(&url, options).unwrap().get(url.clone()).send().await.unwrap();
        assert!(response.bytes().await.unwrap_err().is_timeout());
    }
}
