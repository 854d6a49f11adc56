//! `server_info`: server version, enabled services, and the freshness of each source.

use lyceum_content::SourceStatus;
use lyceum_model::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Call, Effect, Error, Faults, Tool,
    mcp::{ProtocolVersion, SUPPORTED_VERSIONS},
};

/// A list that depends on the caller.
type ListFor<T> = Box<dyn Fn(&Caller) -> Vec<T> + Send + Sync>;

/// The data that the tool reports.
pub struct ServerFacts {
    /// The version of the program.
    pub version: &'static str,
    /// Returns the enabled services that a caller may use, by name.
    pub services: ListFor<String>,
    /// Returns the sources of those services, with their current freshness.
    pub sources: ListFor<SourceStatus>,
    /// Returns the upstreams that a caller may use.
    pub upstreams: ListFor<UpstreamStatus>,
}

/// An upstream server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UpstreamStatus {
    /// Its name, which is also that of its service.
    pub name: String,
    /// Whether it can be used; otherwise its tools are not listed.
    pub is_up: bool,
    /// Number of its tools.
    pub tools: usize,
    /// Why it can't be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct ServerInfo;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The name of the program.
    name: &'static str,
    /// The version of the program.
    version: &'static str,
    /// Supported MCP versions, newest first.
    protocol_versions: Vec<&'static str>,
    /// The enabled services; each has its own endpoint at `/{service}/mcp`.
    services: Vec<String>,
    /// The sources, with commit and sync time.
    sources: Vec<SourceStatus>,
    /// The upstream servers whose tools are offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    upstreams: Vec<UpstreamStatus>,
}

impl Tool for ServerInfo {
    const NAME: &'static str = "server_info";
    const TITLE: &'static str = "Server information";
    const DESCRIPTION: &'static str = "Returns the server version, the enabled services, and for \
        each source the served commit and the time of its last sync, and which upstream servers are up. \
        Use it to see how fresh results are.";
    const EFFECT: Effect = Effect::Reads;
    const FAULTS: Faults = Faults::AsProtocolError;

    type Service = ServerFacts;
    type Args = Args;
    type Output = Output;

    async fn call(facts: &ServerFacts, call: &Call, Args {}: Args) -> Result<Output, Error> {
        Ok(Output {
            name: "lyceum",
            version: facts.version,
            protocol_versions: SUPPORTED_VERSIONS.iter().map(ProtocolVersion::as_str).collect(),
            services: (facts.services)(call.caller()),
            sources: (facts.sources)(call.caller()),
            upstreams: (facts.upstreams)(call.caller()),
        })
    }
}
