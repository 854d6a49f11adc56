//! Each fault of an upstream: a typed answer within the timeout, without the upstream's text, and no harm to others.

use std::time::{Duration, Instant};

use lyceum_testkit::{UpstreamEra, UpstreamFault};
use serde_json::json;

use super::Bench;

/// Longest time that a call with a timeout of two seconds may take, on a busy machine.
const IN_TIME: Duration = Duration::from_secs(10);

async fn check(fault: UpstreamFault, code: &str, reason: &str) {
    for era in [UpstreamEra::Modern, UpstreamEra::Legacy] {
        let bench = Bench::start(era).await;
        bench.server.fail_calls(fault);
        let start = Instant::now();
        let failure = bench.failure("docs_echo", json!({ "text": "x" })).await;
        assert_eq!(failure, (code.to_owned(), reason.to_owned()), "{fault:?} {era:?}");
        assert!(start.elapsed() < IN_TIME, "{fault:?} {era:?}: {:?}", start.elapsed());
    }
}

#[tokio::test]
async fn a_slow_upstream_times_out() {
    check(UpstreamFault::Silent, "UPSTREAM_ERROR", "timeout").await;
}

#[tokio::test]
async fn statuses_are_typed() {
    check(UpstreamFault::Status(401), "UPSTREAM_ERROR", "unauthorized").await;
    check(UpstreamFault::Status(403), "UPSTREAM_ERROR", "unauthorized").await;
    check(UpstreamFault::Status(429), "UPSTREAM_ERROR", "rate_limited").await;
    check(UpstreamFault::Status(500), "UPSTREAM_ERROR", "http_status").await;
    check(UpstreamFault::Status(307), "UPSTREAM_ERROR", "http_status").await;
}

#[tokio::test]
async fn broken_responses_are_typed() {
    check(UpstreamFault::Truncated, "UPSTREAM_ERROR", "truncated").await;
    check(UpstreamFault::WrongId, "UPSTREAM_ERROR", "invalid_response").await;
    check(UpstreamFault::Disconnect, "UPSTREAM_ERROR", "unreachable").await;
    check(UpstreamFault::Rpc(-32603), "UPSTREAM_ERROR", "error_response").await;
    check(UpstreamFault::Rpc(-32602), "VALIDATION_ERROR", "error_response").await;
}

#[tokio::test]
async fn a_response_of_50_mb_or_without_end_is_cut_off() {
    check(UpstreamFault::Huge(50_000_000), "UPSTREAM_ERROR", "too_large").await;
    check(UpstreamFault::Endless, "UPSTREAM_ERROR", "too_large").await;
}

#[tokio::test]
async fn the_wait_that_an_upstream_asks_for_is_reported() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    bench.server.fail_calls(UpstreamFault::Status(429));
    let error = bench.call("docs_echo", json!({ "text": "x" })).await.unwrap_err();
    assert_eq!(error.details().unwrap()["retry_after_seconds"], 7);
}

#[tokio::test]
async fn every_fault_of_a_list_marks_the_upstream_with_its_reason() {
    for (fault, reason) in [
        (UpstreamFault::Silent, "timeout"),
        (UpstreamFault::Status(401), "unauthorized"),
        (UpstreamFault::Status(429), "rate_limited"),
        (UpstreamFault::Status(500), "http_status"),
        (UpstreamFault::Truncated, "truncated"),
        (UpstreamFault::Endless, "too_large"),
        (UpstreamFault::Huge(50_000_000), "too_large"),
        (UpstreamFault::Disconnect, "unreachable"),
    ] {
        let bench = Bench::start(UpstreamEra::Modern).await;
        bench.server.fail(Some(fault));
        let state = bench.upstream.refresh().await;
        assert_eq!(state.describe()["reason"], reason, "{fault:?}");
        assert_eq!(bench.view().tools().count(), 0, "{fault:?}: left out of the list");
        // Clients that know the tool get the reason, without waiting.
        let start = Instant::now();
        let failure = bench.failure("docs_echo", json!({ "text": "x" })).await;
        assert_eq!(failure, ("UPSTREAM_ERROR".to_owned(), reason.to_owned()));
        assert!(start.elapsed() < Duration::from_secs(1), "{fault:?}: {:?}", start.elapsed());
        assert_eq!(bench.server.requests_of("tools/call").len(), 0);
    }
}

#[tokio::test]
async fn complaint_1_a_hanging_upstream_delays_no_other() {
    let (sick, well) = (Bench::start(UpstreamEra::Modern).await, Bench::start(UpstreamEra::Modern).await);
    sick.server.fail_calls(UpstreamFault::Silent);
    let hanging =
        futures::future::join_all((0..100).map(|_| sick.failure("docs_echo", json!({ "text": "x" }))));
    let others = async {
        let start = Instant::now();
        for _ in 0..100 {
            well.result("docs_echo", json!({ "text": "x" })).await;
        }
        (start.elapsed(), sick.server.requests_of("tools/call").len())
    };
    let (failures, (took, sent)) = futures::join!(hanging, others);
    assert!(failures.iter().all(|(code, reason)| code == "UPSTREAM_ERROR" && reason == "timeout"));
    assert!(took < Duration::from_secs(2), "100 calls of another upstream took {took:?}");
    assert_eq!(sent, sick.upstream.settings().limits.concurrent_calls, "the others wait for their turn");
}
