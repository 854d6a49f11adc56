//! Which calls are recorded, and that a call waits for its record.

use std::sync::{Arc, Mutex};

use futures::{FutureExt, future::poll_immediate};
use lyceum_model::{Caller, MCP_READ, Tier};
use serde_json::json;
use tokio::sync::Semaphore;

use super::{Client, access, said, spec, tool};
use crate::{AuditEvent, AuditSink, CallContext, Effect, Error, ToolEntry, ToolSpec};

/// The recorded events, and a semaphore that delays them until they are "on disk".
#[derive(Clone)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    disk: Arc<Semaphore>,
}

impl Log {
    fn new(free: usize) -> Self {
        Self { lines: Arc::default(), disk: Arc::new(Semaphore::new(free)) }
    }

    fn sink(&self) -> AuditSink {
        let log = self.clone();
        AuditSink::new(move |event| {
            let line = match event {
                AuditEvent::Refused { caller, tool, .. } => format!("{:?} refused {tool}", caller.subject()),
                AuditEvent::Wrote { tool, outcome, .. } => format!("{tool} {}", outcome.as_str()),
                AuditEvent::Approved { tool, action, .. } => format!("{tool} approved {action}"),
            };
            log.lines.lock().unwrap().push(line);
            let disk = log.disk.clone();
            async move {
                disk.acquire().await.unwrap().forget();
                Ok(())
            }
            .boxed()
        })
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// A client of a server with these tools.
    fn client(&self, tools: impl IntoIterator<Item = ToolEntry>) -> Client {
        let registry = super::tools(tools).audited_by(Some(self.sink()));
        Client::of(registry).called_by(Caller::known("alice", Tier::Public, [MCP_READ]))
    }
}

fn writing(name: &str) -> ToolSpec {
    ToolSpec { effect: Effect::Writes, ..spec(name) }
}

#[tokio::test]
async fn refusals_and_calls_that_write_are_recorded_and_calls_that_read_are_not() {
    let log = Log::new(10);
    let members = ToolSpec { access: access(Tier::Member, &["kb:read"]), ..spec("members") };
    let failing = ToolEntry::new(writing("failing"), |_, _| async { Err(Error::internal("no")) }.boxed());
    let client = log.client([tool(spec("read")), tool(writing("write")), tool(members), failing.unwrap()]);
    for name in ["read", "write", "members", "failing"] {
        client.call(name, json!({})).await;
    }
    assert_eq!(log.lines(), ["write done", "Some(\"alice\") refused members", "failing failed"]);
}

#[tokio::test]
async fn an_answer_to_a_call_that_writes_comes_after_its_event_is_on_disk() {
    let log = Log::new(0);
    let view = log.client([tool(writing("write"))]).view();
    let mut call = view.call("write", Default::default(), CallContext::default()).boxed();
    assert!(poll_immediate(&mut call).await.is_none(), "the call returned before its event was on disk");
    assert_eq!(log.lines(), ["write done"]);
    log.disk.add_permits(1);
    assert!(call.await.is_ok());
}

#[tokio::test]
async fn a_call_that_writes_is_recorded_when_the_client_hangs_up() {
    let log = Log::new(10);
    let endless = ToolEntry::new(writing("endless"), |_, _| {
        async {
            std::future::pending::<()>().await;
            said("done")
        }
        .boxed()
    });
    let view = log.client([endless.unwrap()]).view();
    let mut call = view.call("endless", Default::default(), CallContext::default()).boxed();
    assert!(poll_immediate(&mut call).await.is_none());
    assert_eq!(log.lines(), [""; 0]);
    drop(call);
    assert_eq!(log.lines(), ["endless cancelled"]);
}
