//! Which rate limit a request counts against, with and without a proxy.

use futures::future::join_all;

use super::Stage;
use crate::app::{Request, get};

fn forwarded(number: usize) -> Request {
    let mut request = get("/siwe/nonce");
    let address = format!("198.51.{}.{}", number / 250, number % 250);
    request.headers_mut().insert("x-forwarded-for", address.parse().unwrap());
    request
}

async fn statuses(stage: &Stage) -> Vec<u16> {
    // Concurrently, because refusals are delayed.
    let answers = join_all((0..200).map(|number| stage.app.send(forwarded(number)))).await;
    answers.iter().map(|answer| answer.status).collect()
}

/// P12: a client with a private address could forge its address, and had no rate limit.
#[tokio::test]
async fn s12_x_forwarded_for_of_an_untrusted_peer_does_not_escape_the_rate_limit() {
    let stage = Stage::unregistered(|_| {}).await;
    let refused = statuses(&stage).await.into_iter().filter(|status| *status == 429).count();
    assert!(refused > 100, "{refused}");
}

#[tokio::test]
async fn s12_clients_of_a_trusted_proxy_have_a_rate_limit_each() {
    let stage = Stage::of("trusted_proxies = [\"127.0.0.0/8\"]", |_| {}).await;
    assert!(!statuses(&stage).await.contains(&429));
}
