//! Upstreams as callers see them: a scripted server on one side, a view on the other.

mod contract;
mod faults;
mod recovery;
mod services;
mod wire;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lyceum_model::{Caller, Domain, Tier};
use lyceum_testkit::{TestUpstream, UpstreamEra};
use lyceum_tools::{CallContext, Error, Outcome, Prefix, ToolResult, View, mcp::JsonObject};
use serde_json::Value;

use crate::{Endpoint, Limits, Protocol, Rule, Settings, ToolErrors, Upstream};

/// A scripted server, and the upstream that is its client.
struct Bench {
    server: TestUpstream,
    upstream: Arc<Upstream>,
}

impl Bench {
    /// A server whose lists have been read.
    async fn start(era: UpstreamEra) -> Self {
        Self::with(era, |_| ()).await
    }

    async fn with(era: UpstreamEra, change: impl FnOnce(&mut Settings)) -> Self {
        let server = TestUpstream::start(era).await;
        let mut settings = settings("docs", &server.url());
        change(&mut settings);
        let bench = Self { server, upstream: Upstream::new(settings).unwrap() };
        assert_eq!(bench.upstream.refresh().await.fault, None);
        bench
    }

    fn view(&self) -> View {
        View::of_all(Arc::new(self.upstream.offer().unwrap()), Arc::new(Caller::trusted()))
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Outcome<ToolResult>, Error> {
        self.view().call(tool, object(arguments), CallContext::default()).await
    }

    /// The result as JSON text.
    async fn result(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments).await {
            Ok(Outcome::Done(result)) => serde_json::to_string(&result).unwrap(),
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// The code and the reason of the failure.
    async fn failure(&self, tool: &str, arguments: Value) -> (String, String) {
        let error = self.call(tool, arguments).await.unwrap_err();
        let text = format!("{error} {:?}", error.details());
        assert!(!text.contains("secret-of-the-upstream"), "{text}");
        let details = error.details().unwrap_or_default();
        (error.code().to_string(), details["reason"].as_str().unwrap_or_default().to_owned())
    }
}

/// Settings with short limits.
fn settings(name: &str, url: &str) -> Settings {
    Settings {
        name: Domain::parse(name).unwrap(),
        prefix: Prefix::parse(&format!("{name}_")).unwrap(),
        endpoint: Endpoint::Mcp { url: url.parse().unwrap(), protocol: Protocol::Auto },
        credential: None,
        limits: Limits {
            connect: Duration::from_secs(2),
            call: Duration::from_secs(2),
            list: Duration::from_secs(2),
            max_backoff: Duration::from_millis(50),
            response_bytes: 1024 * 1024,
            ..Limits::default()
        },
        rule: Rule { tier: Tier::Public, scopes: Vec::new() },
        tools: BTreeMap::new(),
        tool_errors: ToolErrors::Relay,
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}
