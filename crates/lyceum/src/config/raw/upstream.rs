//! The table `[upstream.NAME]`.

use std::collections::BTreeMap;

use lyceum_model::Tier;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The table `[upstream.NAME]`: an MCP server or an HTTP service whose tools are offered here.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Upstream {
    /// URL of the MCP server, or base URL of the HTTP service. Required, unless the variable `DOMAIN_<NAME>_URL` is set,
    /// which overrides it.
    #[serde(default)]
    #[schemars(example = &"https://docs.example.org/mcp")]
    pub url: Option<String>,
    /// What it is. Default: "mcp".
    #[serde(default)]
    #[schemars(with = "UpstreamKind", example = &"mcp")]
    pub kind: Option<UpstreamKind>,
    /// Protocol version of an MCP server. Default: "auto".
    #[serde(default)]
    #[schemars(with = "UpstreamProtocol", example = &"auto")]
    pub protocol: Option<UpstreamProtocol>,
    /// Name of the variable with the credential of this server at the upstream, sent with every request. Default: none; for
    /// an HTTP service `DOMAIN_<NAME>_SECRET`, then `DOMAIN_SHARED_SECRET`, if they are set.
    #[serde(default)]
    #[schemars(example = &"DOCS_TOKEN")]
    pub token_env: Option<String>,
    /// Header for the credential. Default: "authorization", as a bearer token.
    #[serde(default)]
    #[schemars(example = &"x-api-key")]
    pub token_header: Option<String>,
    /// Lowest tier that may use its tools. Default: "member".
    #[serde(default)]
    #[schemars(with = "Tier", example = &"member")]
    pub tier: Option<Tier>,
    /// Scopes that its tools require. Default: `["tools:call"]`; none if the tier is "public".
    #[serde(default)]
    #[schemars(with = "Vec<String>", example = ["docs:call"])]
    pub scopes: Option<Vec<String>>,
    /// What callers get if a tool reports that it failed. Default: "relay".
    #[serde(default)]
    #[schemars(with = "UpstreamToolErrors", example = &"relay")]
    pub tool_errors: Option<UpstreamToolErrors>,
    /// Single tools, by their name at the upstream: `[upstream.NAME.tools.TOOL]`. An HTTP service has only the tools that are
    /// declared here.
    #[serde(default)]
    pub tools: BTreeMap<String, UpstreamTool>,
    /// Prefix of the names of its tools. Default: the name and `_`.
    #[serde(default)]
    #[schemars(example = &"docs_")]
    #[expect(dead_code, reason = "read for every kind of service")]
    pub prefix: Option<String>,
    /// Timeout for connecting, in seconds. Default: 5.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3600), example = 5)]
    pub connect_seconds: Option<u64>,
    /// Timeout of a call, in seconds. Default: 60.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3600), example = 60)]
    pub call_seconds: Option<u64>,
    /// Maximum time between two parts of a response, in seconds. Default: 60.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3600), example = 60)]
    pub idle_seconds: Option<u64>,
    /// Timeout for connecting and reading the list of tools, in seconds. Default: 15.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3600), example = 15)]
    pub list_seconds: Option<u64>,
    /// Interval of reading the list of tools again, in seconds. Default: 60.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86_400), example = 60)]
    pub poll_seconds: Option<u64>,
    /// Maximum size of a response, in bytes. Default: 8388608 (8 MiB).
    #[serde(default)]
    #[schemars(range(min = 1024, max = 1_073_741_824), example = 8_388_608)]
    pub response_bytes: Option<usize>,
    /// Maximum number of concurrent calls; others wait. Default: 64.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000), example = 64)]
    pub concurrent_calls: Option<usize>,
}

/// A tool of an upstream.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamTool {
    /// Whether it is left out. Default: false.
    #[serde(default)]
    pub exclude: bool,
    /// Lowest tier that may use it. Default: that of the upstream.
    #[serde(default)]
    #[schemars(with = "Tier", example = &"public")]
    pub tier: Option<Tier>,
    /// Scopes that it requires. Default: those of the upstream; none if `tier` is "public".
    #[serde(default)]
    #[schemars(with = "Vec<String>", example = ["docs:write"])]
    pub scopes: Option<Vec<String>>,
    /// Display name. HTTP services only.
    #[serde(default)]
    #[schemars(example = &"Get invoice")]
    pub title: Option<String>,
    /// What it does and when to use it, for the model. HTTP services only, and required for them.
    #[serde(default)]
    #[schemars(example = &"Returns an invoice by its number.")]
    pub description: Option<String>,
    /// JSON Schema of the arguments. HTTP services only. Default: any object.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    pub input_schema: Option<Map<String, Value>>,
    /// JSON Schema of the result. HTTP services only. Default: none.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    pub output_schema: Option<Map<String, Value>>,
    /// Whether it only reads. HTTP services only. Default: false.
    pub read_only: Option<bool>,
}

/// What an upstream is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UpstreamKind {
    /// An MCP server over Streamable HTTP, in any protocol version.
    #[default]
    Mcp,
    /// A plain HTTP service: `POST {url}/tools/{name}/call` with `{ "arguments": {…} }`, and a JSON response.
    Service,
}

/// Protocol version of an MCP server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum UpstreamProtocol {
    /// Finds out.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// Without sessions.
    #[serde(rename = "2026-07-28")]
    Modern,
    /// With a session; the server may choose an earlier version.
    #[serde(rename = "2025-11-25")]
    Legacy,
}

/// What callers get if a tool of an upstream reports that it failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UpstreamToolErrors {
    /// The result of the tool, so that the model can correct its arguments.
    #[default]
    Relay,
    /// `UPSTREAM_ERROR`, without the text of the upstream.
    Normalize,
}
