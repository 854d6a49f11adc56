//! Error responses of S3-compatible stores, and validation of settings. `cargo xtask peers s3` tests a real store.

use std::time::{Duration, Instant};

use lyceum_model::ErrorCode;
use lyceum_net::Secret;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::super::{ObjectError, ObjectOptions, Objects, S3Settings};
use super::key;

fn settings(endpoint: &str) -> S3Settings {
    S3Settings {
        endpoint: endpoint.to_owned(),
        bucket: "objects".to_owned(),
        region: "auto".to_owned(),
        access_key_id: "sample".to_owned(),
        secret: Secret::new("sample-secret").unwrap(),
        prefix: String::new(),
    }
}

/// Starts a store that sends the same response to every request; with `None` it never responds.
async fn store(answer: Option<&str>) -> Objects {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let answer = answer.map(str::to_owned);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut request = [0; 8192];
                while matches!(stream.read(&mut request).await, Ok(1..)) {
                    if let Some(answer) = &answer {
                        stream.write_all(answer.as_bytes()).await.unwrap();
                    }
                }
            });
        }
    });
    Objects::s3(&settings(&endpoint)).unwrap()
}

/// Checks that every operation fails with that code and message if the store responds so.
async fn check(status: &str, code: &str, expected: (ErrorCode, bool, &str)) {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>no</Message></Error>");
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    let objects = store(Some(&(head + &body))).await;
    let key = key("raw/a.md");
    for error in [
        objects.put(&key, "x".into()).await.unwrap_err(),
        objects.get(&key).await.unwrap_err(),
        objects.delete(&key).await.unwrap_err(),
        objects.list("raw", 10).await.unwrap_err(),
    ] {
        let actual = (error.code(), error.is_transient());
        assert_eq!(actual, (expected.0, expected.1), "{status} {code}: {error:?}");
        assert!(error.to_string().contains(expected.2), "{status} {code}: {error}");
    }
}

#[tokio::test]
async fn an_answer_says_what_is_to_be_done() {
    let upstream = ErrorCode::UpstreamError;
    check("403 Forbidden", "InvalidAccessKeyId", (upstream, false, "check the access key")).await;
    check("401 Unauthorized", "", (upstream, false, "check the access key")).await;
    check("400 Bad Request", "AuthorizationHeaderMalformed", (upstream, false, "the region")).await;
    check("404 Not Found", "NoSuchBucket", (upstream, false, "the bucket does not exist")).await;
    check("301 Moved Permanently", "PermanentRedirect", (upstream, false, "the bucket does not exist")).await;
    check("400 Bad Request", "KeyTooLongError", (ErrorCode::InvalidPath, false, "too long")).await;
    check("400 Bad Request", "InvalidRequest", (ErrorCode::InternalError, false, "failed")).await;
}

#[tokio::test]
async fn a_busy_store_is_asked_again_and_then_given_up() {
    check("503 Slow Down", "SlowDown", (ErrorCode::UpstreamError, true, "is running, and retry")).await;
}

#[tokio::test]
async fn a_missing_object_is_nothing() {
    let answer = "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let objects = store(Some(answer)).await;
    assert_eq!(objects.get(&key("raw/a.md")).await.unwrap(), None);
    objects.delete(&key("raw/a.md")).await.unwrap();
}

#[tokio::test]
async fn a_store_that_says_nothing_is_not_waited_for() {
    let timeout = Duration::from_millis(200);
    let objects = store(None).await.with_options(ObjectOptions { timeout, ..ObjectOptions::default() });
    let started = Instant::now();
    let error = objects.get(&key("raw/a.md")).await.unwrap_err();
    assert_eq!((error.code(), error.is_transient()), (ErrorCode::Timeout, true));
    assert_eq!(error.to_string(), "the object store did not respond within 0.2 seconds; try again");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn settings_that_can_not_work_are_refused_with_what_to_write() {
    let check = |change: fn(&mut S3Settings), text: &str| {
        let mut settings = settings("https://s3.example.com");
        change(&mut settings);
        match Objects::s3(&settings) {
            Err(error @ ObjectError::Settings(_)) => {
                assert!(error.to_string().contains(text) && !text.is_empty(), "{error}");
            }
            other => assert!(text.is_empty(), "{settings:?}: {other:?}"),
        }
    };
    check(|_| (), "");
    check(|settings| settings.endpoint = "http://localhost:9000".to_owned(), "");
    check(|settings| settings.endpoint = "http://[::1]:9000/".to_owned(), "");
    check(|settings| settings.prefix = "lyceum/ü 1/".to_owned(), "");
    check(|settings| settings.endpoint = "http://s3.example.com".to_owned(), "must start with https://");
    check(
        |settings| settings.endpoint = "http://127.0.0.1.example.com".to_owned(),
        "must start with https://",
    );
    check(|settings| settings.endpoint = "ftp://s3.example.com".to_owned(), "must start with https://");
    check(|settings| settings.endpoint = "s3.example.com".to_owned(), "is not an absolute URL");
    check(|settings| settings.endpoint = "https://a:b@s3.example.com".to_owned(), "more than a host");
    check(|settings| settings.endpoint = "https://s3.example.com/?a=b".to_owned(), "more than a host");
    check(|settings| settings.bucket = "a/b".to_owned(), "the name of a bucket");
    check(|settings| settings.region = "eu\n1".to_owned(), "the region");
    check(|settings| settings.access_key_id = "ä".to_owned(), "the access key");
    check(|settings| settings.prefix = "a/../b".to_owned(), "empty part");
}

#[test]
fn a_secret_is_never_shown() {
    let settings = settings("https://s3.example.com");
    let objects = Objects::s3(&settings).unwrap();
    assert!(!format!("{settings:?} {objects:?}").contains("sample-secret"));
    assert!(Secret::new(" ").is_err() && Secret::new("two\nlines").is_err());
}
