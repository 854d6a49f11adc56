//! Plain HTTP services: tools declared in the configuration, called by POST.

use lyceum_net::Secret;
use lyceum_testkit::{TestUpstream, UpstreamEra, UpstreamFault};
use reqwest::header::HeaderName;
use serde_json::json;

use super::{Bench, object, settings};
use crate::{Credential, DeclaredTool, Endpoint, Upstream};

/// A service with one tool. The scripted server answers with a fixed status or body.
async fn service() -> Bench {
    let server = TestUpstream::start(UpstreamEra::Modern).await;
    let mut settings = settings("a", "http://unused.invalid");
    let schema =
        json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] });
    let tool = DeclaredTool {
        name: "get invoice".to_owned(),
        title: None,
        description: "Returns an invoice.".to_owned(),
        input_schema: object(schema),
        output_schema: None,
        is_read_only: true,
    };
    let url = server.url().replace("/mcp", "/base/").parse().unwrap();
    settings.endpoint = Endpoint::Service { url, tools: vec![tool] };
    let header = HeaderName::from_static("x-api-key");
    settings.credential = Some(Credential { header, secret: Secret::new("own-secret").unwrap() });
    Bench { server, upstream: Upstream::new(settings).unwrap() }
}

#[tokio::test]
async fn a_tool_of_a_service_is_a_post() {
    let bench = service().await;
    let name = bench.view().tools().map(|tool| tool.spec().name.clone()).next().unwrap();
    let result = bench.result(&name, json!({ "id": 7 })).await;
    let sent = bench.server.requests().pop().unwrap();
    assert!(sent.head.starts_with("POST /base/tools/get%20invoice/call HTTP/1.1"), "{}", sent.head);
    assert_eq!(sent.headers["x-api-key"], "own-secret");
    assert_eq!(sent.body, json!({ "arguments": { "id": 7 } }));
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["structuredContent"]["accepted"], true);
    assert_eq!(result["content"][0]["text"], "{\"accepted\":true}");
}

#[tokio::test]
async fn failures_of_a_service_are_typed() {
    let bench = service().await;
    let name = bench.view().tools().map(|tool| tool.spec().name.clone()).next().unwrap();
    for (fault, reason) in [
        (UpstreamFault::Status(404), "http_status"),
        (UpstreamFault::Status(500), "http_status"),
        (UpstreamFault::Status(401), "unauthorized"),
        (UpstreamFault::Status(429), "rate_limited"),
        (UpstreamFault::Silent, "timeout"),
        (UpstreamFault::Truncated, "truncated"),
        (UpstreamFault::Huge(2_000_000), "too_large"),
        (UpstreamFault::Disconnect, "unreachable"),
    ] {
        bench.server.fail(Some(fault));
        let failure = bench.failure(&name, json!({ "id": 7 })).await;
        assert_eq!(failure, ("UPSTREAM_ERROR".to_owned(), reason.to_owned()), "{fault:?}");
    }
    bench.server.stop().await;
    assert_eq!(bench.upstream.refresh().await.describe()["reason"], "unreachable");
}
