//! Upstreams that go and come back.

use std::{sync::Arc, time::Duration};

use lyceum_testkit::{UpstreamEra, UpstreamFault};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Bench;
use crate::{State, Upstream};

/// Waits for a state, for at most ten seconds.
async fn wait_for(upstream: &Upstream, is_reached: impl FnMut(&State) -> bool) -> State {
    let mut states = upstream.state();
    let reached = tokio::time::timeout(Duration::from_secs(10), states.wait_for(is_reached)).await;
    reached.expect("the state is reached in time").unwrap().clone()
}

/// Runs the background loop of an upstream until the guard is dropped.
fn keep(upstream: &Arc<Upstream>) -> tokio_util::sync::DropGuard {
    let stopping = CancellationToken::new();
    tokio::spawn(upstream.clone().keep(stopping.clone()));
    stopping.drop_guard()
}

#[tokio::test]
async fn complaint_17_an_upstream_that_was_down_comes_back_by_itself() {
    for era in [UpstreamEra::Modern, UpstreamEra::Legacy] {
        let bench = Bench::start(era).await;
        let _running = keep(&bench.upstream);
        bench.server.stop().await;
        let (code, _) = bench.failure("docs_echo", json!({ "text": "x" })).await;
        assert_eq!(code, "UPSTREAM_ERROR");
        // The failed call asked for a probe, long before the next poll.
        wait_for(&bench.upstream, |state| !state.is_up()).await;
        assert_eq!(bench.view().tools().count(), 0);
        bench.server.start_again().await;
        wait_for(&bench.upstream, State::is_up).await;
        assert_eq!(bench.view().tools().count(), 1);
        bench.result("docs_echo", json!({ "text": "x" })).await;
    }
}

#[tokio::test]
async fn a_server_that_is_down_at_the_start_is_connected_to_later() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    bench.server.stop().await;
    let late = Upstream::new(super::settings("late", &bench.server.url())).unwrap();
    let _running = keep(&late);
    wait_for(&late, |state| state.failures > 0).await;
    bench.server.start_again().await;
    assert_eq!(wait_for(&late, State::is_up).await.tool_count(), 1);
}

#[tokio::test]
async fn complaint_2_an_expired_session_is_replaced_within_the_call() {
    let bench = Bench::start(UpstreamEra::Legacy).await;
    bench.server.stop().await;
    bench.server.start_again().await;
    let calls = (0..20).map(|_| bench.result("docs_echo", json!({ "text": "x" })));
    assert_eq!(futures::future::join_all(calls).await.len(), 20);
    assert_eq!(bench.server.requests_of("initialize").len(), 2, "one session for all calls");
}

#[tokio::test]
async fn a_failing_tool_does_not_mark_its_upstream() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    bench.server.fail_calls(UpstreamFault::Status(500));
    let _running = keep(&bench.upstream);
    bench.failure("docs_echo", json!({ "text": "x" })).await;
    let lists = bench.server.requests_of("tools/list").len();
    let probed = async {
        while bench.server.requests_of("tools/list").len() <= lists {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), probed).await.expect("the upstream is probed");
    assert!(bench.upstream.state().borrow().is_up());
}

#[tokio::test]
async fn complaint_12_changed_definitions_change_the_offer() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    let mut states = bench.upstream.state();
    states.mark_unchanged();
    bench.upstream.refresh().await;
    assert!(!states.has_changed().unwrap(), "nothing changed, nothing is published");
    bench.server.set_tools(json!([{ "name": "other", "inputSchema": { "type": "object" } }]));
    bench.upstream.refresh().await;
    assert!(states.has_changed().unwrap());
    assert!(bench.view().has_tool("docs_other") && !bench.view().has_tool("docs_echo"));
}
