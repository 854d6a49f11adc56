//! Which protocol version a server speaks, and its session if it needs one.

use lyceum_tools::mcp::JsonObject;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{MODERN, McpHttp, Request, SESSION_ID, client_info};
use crate::{Fault, Protocol, rpc::Outgoing};

/// The version that we ask for in `initialize`; the server may choose an earlier one.
const LEGACY: &str = "2025-11-25";

/// A server as it introduced itself.
#[derive(Debug)]
pub(crate) struct Connection {
    pub era: Era,
    capabilities: JsonObject,
}

/// How requests are sent.
#[derive(Debug)]
pub(crate) enum Era {
    /// MCP 2026-07-28: every request carries its context.
    Modern,
    /// `initialize`, before the version is known.
    Initializing,
    /// Earlier versions, with a session if the server has sessions.
    Legacy { version: HeaderValue, session: Option<HeaderValue> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    #[serde(default)]
    supported_versions: Vec<String>,
    #[serde(default)]
    capabilities: JsonObject,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
    #[serde(default)]
    capabilities: JsonObject,
}

impl Connection {
    /// Whether the server declares a capability, such as `prompts`.
    pub(crate) fn has(&self, capability: &str) -> bool {
        self.capabilities.contains_key(capability)
    }
}

impl McpHttp {
    /// Finds out the protocol version, and opens a session if it is an earlier one.
    pub(super) async fn connect(&self) -> Result<Connection, Fault> {
        match self.protocol {
            Protocol::Modern => self.discover().await,
            Protocol::Legacy => self.initialize().await,
            Protocol::Auto => match self.discover().await {
                // It understands HTTP but not this request: an earlier version.
                Err(Fault::Rpc(_) | Fault::Invalid(_) | Fault::SessionGone) => self.initialize().await,
                Err(Fault::Status(status)) if (400..500).contains(&status) => self.initialize().await,
                result => result,
            },
        }
    }

    async fn discover(&self) -> Result<Connection, Fault> {
        let result = self.send(&Era::Modern, &Request::new("server/discover", JsonObject::new())).await?;
        let discovered: Discovered = parse(&result)?;
        if !discovered.supported_versions.iter().any(|version| version == MODERN) {
            return Err(Fault::Invalid("it does not support MCP 2026-07-28"));
        }
        Ok(Connection { era: Era::Modern, capabilities: discovered.capabilities })
    }

    async fn initialize(&self) -> Result<Connection, Fault> {
        let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client_info() });
        let Value::Object(params) = params else { return Err(Fault::Invalid("it has no parameters")) };
        let id = self.next_id();
        let body = Outgoing { jsonrpc: "2.0", id: Some(id), method: "initialize", params: &params };
        let response = self.post(&Era::Initializing, HeaderMap::new(), body.encode()).await?;
        let session = response.headers().get(SESSION_ID).cloned();
        let result = self.read(response, &Era::Initializing, id, None).await?;
        let Initialized { protocol_version, capabilities } = parse(&result)?;
        let version = HeaderValue::try_from(protocol_version);
        let version = version.map_err(|_| Fault::Invalid("its protocol version is not a version"))?;
        let era = Era::Legacy { version, session };
        let notice = Outgoing {
            jsonrpc: "2.0",
            id: None,
            method: "notifications/initialized",
            params: &JsonObject::new(),
        };
        let accepted = self.post(&era, HeaderMap::new(), notice.encode()).await?;
        if !accepted.status().is_success() {
            return Err(Fault::Status(accepted.status().as_u16()));
        }
        Ok(Connection { era, capabilities })
    }
}

fn parse<'a, T: Deserialize<'a>>(result: &'a RawValue) -> Result<T, Fault> {
    serde_json::from_str(result.get()).map_err(|_| Fault::Invalid("it can't be parsed"))
}
