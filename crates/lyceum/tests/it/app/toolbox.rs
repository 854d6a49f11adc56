//! Registries for tests, and a tool that waits until it is released.

use std::sync::Arc;

use lyceum_model::{Access, Domain};
use lyceum_tools::{
    Call, Effect, Error, Faults, Hub, Outcome, Registry, ToolEntry, ToolSpec,
    mcp::{CallToolResult, ContentBlock, JsonObject},
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::within;

const TEST: Domain = Domain::from_static("test");

/// The fixture of the conformance suite.
pub(crate) fn fixture() -> Arc<Hub> {
    lyceum_testkit::fixture_hub().unwrap()
}

/// A hub with those tools.
pub(crate) fn hub(tools: impl IntoIterator<Item = ToolEntry>) -> Arc<Hub> {
    Arc::new(Hub::new(registry(tools)))
}

/// A registry with those tools.
pub(crate) fn registry(tools: impl IntoIterator<Item = ToolEntry>) -> Registry {
    let add = |builder: lyceum_tools::RegistryBuilder, tool| builder.tool_entry(tool).unwrap();
    tools.into_iter().fold(Registry::builder(), add).build()
}

/// A public tool that accepts anything and reports errors as protocol errors.
pub(crate) fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: name.to_owned(),
        description: "A tool of a test.".to_owned(),
        access: Access::public(TEST),
        input_schema: object(&json!({ "type": "object" })),
        output_schema: None,
        effect: Effect::Reads,
        faults: Faults::AsProtocolError,
    }
}

pub(crate) fn object(value: &Value) -> JsonObject {
    value.as_object().unwrap().clone()
}

/// A tool with that implementation.
pub(crate) fn tool<W>(spec: ToolSpec, work: impl Fn(Call) -> W + Send + Sync + 'static) -> ToolEntry
where
    W: Future<Output = Result<String, Error>> + Send + 'static,
{
    ToolEntry::new(spec, move |call, _| {
        let work = work(call);
        async move {
            let text = work.await?;
            Ok(Outcome::Done(CallToolResult::success(vec![ContentBlock::text(text)])))
        }
    })
    .unwrap()
}

/// Controls a waiting tool.
pub(crate) struct Waiting {
    moments: mpsc::UnboundedReceiver<Moment>,
    go: watch::Sender<bool>,
}

#[derive(Debug, PartialEq, Eq)]
enum Moment {
    Began,
    Dropped,
}

/// A tool that signals its start and waits until it is released.
pub(crate) fn waiting(name: &str) -> (ToolEntry, Waiting) {
    let (sender, moments) = mpsc::unbounded_channel();
    let (go, gone) = watch::channel(false);
    let tool = tool(spec(name), move |call| {
        let (told, mut gone) = (DropSignal(sender.clone()), gone.clone());
        async move {
            call.progress(0.0, None, None);
            told.0.send(Moment::Began).unwrap();
            gone.wait_for(|gone| *gone).await.map_err(Error::internal)?;
            drop(call);
            Ok("let go".to_owned())
        }
    });
    (tool, Waiting { moments, go })
}

impl Waiting {
    /// Waits until a call has started.
    pub(crate) async fn began(&mut self) {
        assert_eq!(within("the tool begins", self.moments.recv()).await, Some(Moment::Began));
    }

    /// Waits until a call has ended, completed or cancelled.
    pub(crate) async fn dropped(&mut self) {
        assert_eq!(within("the tool is dropped", self.moments.recv()).await, Some(Moment::Dropped));
    }

    /// Releases all calls.
    pub(crate) fn let_go(&self) {
        self.go.send_replace(true);
    }
}

/// Signals when the call is dropped.
struct DropSignal(mpsc::UnboundedSender<Moment>);

impl Drop for DropSignal {
    fn drop(&mut self) {
        // The test may have ended.
        let _heard = self.0.send(Moment::Dropped);
    }
}
