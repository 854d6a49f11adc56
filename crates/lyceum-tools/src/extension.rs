//! Extensions of the protocol: declared under `capabilities.extensions`, with methods of their own.
//!
//! Whoever sees an extension by its terms is told that it is here; each method is then used by the method's own.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use lyceum_model::Access;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{Call, Error, RegistryError, mcp::JsonObject};

type Work = Box<dyn Fn(Call, JsonObject) -> BoxFuture<'static, Result<JsonObject, Error>> + Send + Sync>;

/// An extension that is offered, with its methods.
#[derive(Debug)]
pub struct ExtensionEntry {
    pub(crate) access: Access,
    pub(crate) id: String,
    pub(crate) settings: JsonObject,
    pub(crate) methods: Vec<MethodEntry>,
}

/// A method of an extension.
pub struct MethodEntry {
    pub(crate) access: Access,
    pub(crate) name: String,
    ttl: Option<Duration>,
    work: Work,
}

impl ExtensionEntry {
    /// An extension such as `io.modelcontextprotocol/skills`, and the settings that clients read beside it.
    pub fn new(access: Access, id: impl Into<String>, settings: JsonObject) -> Self {
        Self { access, id: id.into(), settings, methods: Vec::new() }
    }

    /// Adds a method.
    pub fn method(mut self, method: MethodEntry) -> Self {
        self.methods.push(method);
        self
    }

    /// The id under which it is declared.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What clients read beside the id.
    pub fn settings(&self) -> &JsonObject {
        &self.settings
    }

    /// Whether it is the very extension that another service offers: a client sees one of them, and can't tell which.
    pub(crate) fn may_stand_beside(&self, other: &Self) -> bool {
        let names = |entry: &Self| entry.methods.iter().map(|method| method.name.clone()).collect::<Vec<_>>();
        self.access.domain != other.access.domain
            && self.settings == other.settings
            && names(self) == names(other)
    }

    /// Checks that clients can send all names, and that none of them is the protocol's own.
    pub(crate) fn check(&self) -> Result<(), RegistryError> {
        if !is_extension_id(&self.id) {
            return Err(RegistryError::ExtensionId { id: self.id.clone() });
        }
        for MethodEntry { name, .. } in &self.methods {
            if !is_method_name(name) {
                return Err(RegistryError::MethodName { name: name.clone() });
            }
            if is_standard(name) {
                return Err(RegistryError::MethodTaken { name: name.clone() });
            }
        }
        Ok(())
    }
}

impl MethodEntry {
    /// A method that takes its parameters as they come, without `_meta`, and makes its result itself.
    pub fn new<F, W>(access: Access, name: impl Into<String>, work: F) -> Self
    where
        F: Fn(Call, JsonObject) -> W + Send + Sync + 'static,
        W: Future<Output = Result<JsonObject, Error>> + Send + 'static,
    {
        let work: Work = Box::new(move |call, params| Box::pin(work(call, params)));
        Self { access, name: name.into(), ttl: None, work }
    }

    /// A method whose parameters and result are types. What can't be read as the parameters is the caller's fault.
    pub fn of<P, R, F, W>(access: Access, name: impl Into<String>, work: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(Call, P) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R, Error>> + Send + 'static,
    {
        let work = Arc::new(work);
        Self::new(access, name, move |call, params| {
            let work = work.clone();
            async move {
                let params = P::deserialize(Value::Object(params))
                    .map_err(|error| Error::invalid("params", format!("params: {error}")))?;
                match serde_json::to_value(work(call, params).await?).map_err(Error::internal)? {
                    Value::Object(result) => Ok(result),
                    _ => Err(Error::internal("the result of a method is not an object")),
                }
            }
        })
    }

    /// Says that results may be kept that long. `ttlMs` and `cacheScope` are then put on each in the eras that know
    /// them, unless the work did so itself: it must where its result depends on who asks and its terms do not.
    pub fn kept_for(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// How long results may be kept, in milliseconds; nothing where the method does not say.
    pub(crate) fn ttl_ms(&self) -> Option<u64> {
        self.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
    }

    pub(crate) async fn perform(&self, call: Call, params: JsonObject) -> Result<JsonObject, Error> {
        (self.work)(call, params).await
    }
}

impl fmt::Debug for MethodEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// `vendor.example/name`; see the specification's page on the keys of `_meta`.
fn is_extension_id(id: &str) -> bool {
    let framed = |text: &str, first: fn(&u8) -> bool, inside: &[u8]| {
        text.as_bytes().first().is_some_and(first)
            && text.as_bytes().last().is_some_and(u8::is_ascii_alphanumeric)
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || inside.contains(&b))
    };
    id.split_once('/').is_some_and(|(vendor, name)| {
        vendor.split('.').all(|label| framed(label, u8::is_ascii_alphabetic, b"-"))
            && framed(name, u8::is_ascii_alphanumeric, b"-_.")
    })
}

/// A method's name is also sent in a header.
fn is_method_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}

/// The names that JSON-RPC and the revisions of MCP keep for themselves, whether they are answered here or not.
fn is_standard(name: &str) -> bool {
    name.starts_with("rpc.")
        || name.starts_with("notifications/")
        || matches!(
            name,
            "initialize"
                | "ping"
                | "server/discover"
                | "tools/list"
                | "tools/call"
                | "prompts/list"
                | "prompts/get"
                | "resources/list"
                | "resources/templates/list"
                | "resources/read"
                | "resources/subscribe"
                | "resources/unsubscribe"
                | "subscriptions/listen"
                | "completion/complete"
                | "logging/setLevel"
                | "sampling/createMessage"
                | "elicitation/create"
                | "roots/list"
                | "tasks/list"
                | "tasks/get"
                | "tasks/result"
                | "tasks/update"
                | "tasks/cancel"
        )
}
