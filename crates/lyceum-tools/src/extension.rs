//! MCP extensions: declared under `capabilities.extensions`, with their own methods.
//!
//! A caller who passes an extension's permission check sees it declared; each method has a permission check of its
//! own.

pub(crate) mod merge;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use lyceum_model::Access;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

pub use merge::Merge;

use crate::{Call, Error, RegistryError, mcp::JsonObject};

type Work = Box<dyn Fn(Call, JsonObject) -> BoxFuture<'static, Result<JsonObject, Error>> + Send + Sync>;

/// A registered extension with its methods.
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
    merge: Merge,
    work: Work,
}

impl ExtensionEntry {
    /// Creates an extension such as `io.modelcontextprotocol/skills`, with the settings that clients see.
    pub fn new(access: Access, id: impl Into<String>, settings: JsonObject) -> Self {
        Self { access, id: id.into(), settings, methods: Vec::new() }
    }

    /// Adds a method.
    pub fn method(mut self, method: MethodEntry) -> Self {
        self.methods.push(method);
        self
    }

    /// The id in `capabilities.extensions`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The settings in `capabilities.extensions`.
    pub fn settings(&self) -> &JsonObject {
        &self.settings
    }

    /// Whether this is the same extension, offered by another service.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        let names = |entry: &Self| entry.methods.iter().map(|method| method.name.clone()).collect::<Vec<_>>();
        self.access.domain != other.access.domain
            && self.settings == other.settings
            && names(self) == names(other)
    }

    /// Checks that all names are valid and that none is reserved by the protocol.
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
    /// Creates a method that gets its parameters as raw JSON, without `_meta`, and returns a JSON object.
    pub fn new<F, W>(access: Access, name: impl Into<String>, work: F) -> Self
    where
        F: Fn(Call, JsonObject) -> W + Send + Sync + 'static,
        W: Future<Output = Result<JsonObject, Error>> + Send + 'static,
    {
        let work: Work = Box::new(move |call, params| Box::pin(work(call, params)));
        Self { access, name: name.into(), ttl: None, merge: Merge::default(), work }
    }

    /// Creates a method with typed parameters and result. Parameters that don't parse are a validation error.
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

    /// Lets clients cache results that long. Protocol versions that support it then get `ttlMs` and `cacheScope`,
    /// unless the method sets them itself. It must do so if its result depends on the caller and its access rules do
    /// not.
    pub fn cached_for(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// How long clients may cache results, in milliseconds, if the method says so.
    pub(crate) fn ttl_ms(&self) -> Option<u64> {
        self.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
    }

    /// Sets how results are merged if several services offer the extension.
    pub fn merged_by(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }

    pub(crate) async fn run(&self, call: Call, params: JsonObject) -> Result<JsonObject, Error> {
        (self.work)(call, params).await
    }
}

impl fmt::Debug for MethodEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Checks for `vendor.example/name`; see the specification's page on `_meta` keys.
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

/// Checks a method name. It is also sent in a header, so the characters are limited.
fn is_method_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}

/// Whether JSON-RPC or any MCP version reserves the name, implemented here or not.
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
