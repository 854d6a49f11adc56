//! `server_info`: what this server is, what it offers and how fresh it is.

use lyceum_content::SourceStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Call, Effect, Error, Faults, Tool, mcp::SUPPORTED_VERSIONS};

/// What the tool reports on.
pub struct ServerFacts {
    /// The version of the program.
    pub version: &'static str,
    /// The services that are on, in the order of their names.
    pub services: Vec<String>,
    /// Tells where knowledge comes from, and how fresh it is at this moment.
    pub sources: Box<dyn Fn() -> Vec<SourceStatus> + Send + Sync>,
}

/// The tool.
#[derive(Debug)]
pub struct ServerInfo;

/// It takes no arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// What it answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The name of the program.
    name: &'static str,
    /// The version of the program.
    version: &'static str,
    /// The MCP revisions that are spoken, newest first.
    protocol_versions: Vec<String>,
    /// The services that are on; each has an endpoint of its own at `/{service}/mcp`.
    services: Vec<String>,
    /// Where the knowledge comes from, and as of which commit and time.
    sources: Vec<SourceStatus>,
}

impl Tool for ServerInfo {
    const NAME: &'static str = "server_info";
    const TITLE: &'static str = "Server information";
    const DESCRIPTION: &'static str = "Returns the server version, the enabled services, and for \
        each source the served commit and the time of its last sync. Use it to see how fresh \
        results are.";
    const EFFECT: Effect = Effect::Reads;
    const FAULTS: Faults = Faults::AsProtocolError;

    type Service = ServerFacts;
    type Args = Args;
    type Output = Output;

    async fn call(facts: &ServerFacts, _: &Call, Args {}: Args) -> Result<Output, Error> {
        Ok(Output {
            name: "lyceum",
            version: facts.version,
            protocol_versions: SUPPORTED_VERSIONS.iter().map(ToString::to_string).collect(),
            services: facts.services.clone(),
            sources: (facts.sources)(),
        })
    }
}
