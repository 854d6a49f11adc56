//! Which URLs the guard rejects.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::Url;
use tokio::net::TcpListener;

use super::{Fetch, FetchError, Guard};

/// Starts a listener that counts connections and never answers.
async fn canary() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    (port, count)
}

#[tokio::test]
async fn no_way_of_writing_it_leads_to_this_machine() {
    let (port, count) = canary().await;
    let guard = Guard::default();
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "0x7f000001",
        "127.1",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "[::]",
        "0.0.0.0",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1.",
        "①②⑦.⓪.⓪.①",
    ] {
        for scheme in ["https", "http"] {
            let Ok(url) = Url::parse(&format!("{scheme}://{host}:{port}/x")) else { continue };
            let answer = guard.fetch(&url, Fetch::Get, "*/*", Duration::from_secs(2)).await;
            assert!(matches!(answer, Err(FetchError::NotPublic | FetchError::Failed(_))), "{url}");
        }
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
    // The canary counts connections to a trusted host.
    let trusting = Guard { trusted: vec![format!("127.0.0.1:{port}")] };
    let url = Url::parse(&format!("http://127.0.0.1:{port}/x")).unwrap();
    let _unanswered = trusting.fetch(&url, Fetch::Get, "*/*", Duration::from_millis(200)).await;
    assert_eq!(count.load(Ordering::Relaxed), 1);
}
