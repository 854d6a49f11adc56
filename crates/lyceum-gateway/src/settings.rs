//! Settings of an upstream, validated.

use std::{collections::BTreeMap, time::Duration};

use lyceum_model::{Access, Domain, Scope, Tier};
use lyceum_net::Secret;
use lyceum_tools::{Prefix, mcp::JsonObject};
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderName, HeaderValue},
};

/// Settings of one upstream.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its name, and that of the service that offers its tools.
    pub name: Domain,
    /// Prefix of the names of its tools and prompts.
    pub prefix: Prefix,
    /// What it is.
    pub endpoint: Endpoint,
    /// The credential of this server at the upstream. Nothing of a caller's is ever sent.
    pub credential: Option<Credential>,
    /// Timeouts and sizes.
    pub limits: Limits,
    /// Who may use a tool that has no rule of its own.
    pub rule: Rule,
    /// Rules of single tools, by the upstream's name of the tool.
    pub tools: BTreeMap<String, ToolRule>,
    /// Whether results of failed tools are relayed.
    pub tool_errors: ToolErrors,
}

/// What an upstream is.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// An MCP server over Streamable HTTP.
    Mcp {
        /// Its URL.
        url: Url,
        /// The protocol version.
        protocol: Protocol,
    },
    /// A plain HTTP service: `POST {url}/tools/{name}/call`. Its tools are declared in the configuration.
    Service {
        /// Its base URL.
        url: Url,
        /// Its tools.
        tools: Vec<DeclaredTool>,
    },
}

/// Protocol version of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// 2026-07-28 if the server answers `server/discover`, else an earlier version with a session.
    #[default]
    Auto,
    /// 2026-07-28, without sessions.
    Modern,
    /// 2025-11-25 or earlier, with a session.
    Legacy,
}

/// A tool of a plain HTTP service.
#[derive(Debug, Clone)]
pub struct DeclaredTool {
    /// Its name at the service.
    pub name: String,
    /// Display name.
    pub title: Option<String>,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: JsonObject,
    /// JSON Schema of the result.
    pub output_schema: Option<JsonObject>,
    /// Whether it only reads.
    pub is_read_only: bool,
}

/// A credential in a header.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Name of the header; a bearer token if it is `authorization`.
    pub header: HeaderName,
    /// The secret.
    pub secret: Secret,
}

impl Credential {
    /// The value of the header, marked as sensitive; `None` if a header can't carry the secret.
    pub(crate) fn value(&self) -> Option<HeaderValue> {
        if self.header == AUTHORIZATION {
            return self.secret.bearer().ok();
        }
        let mut value = HeaderValue::from_str(self.secret.reveal()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Timeouts and sizes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Timeout for connecting.
    pub connect: Duration,
    /// Timeout of a call, from waiting for a free connection to the last byte.
    pub call: Duration,
    /// Maximum time between two parts of a response.
    pub idle: Duration,
    /// Timeout for connecting and reading all lists.
    pub list: Duration,
    /// Interval of reading the lists again.
    pub poll: Duration,
    /// Maximum delay between two attempts to reach an upstream that is down.
    pub max_backoff: Duration,
    /// Maximum size of a response in bytes.
    pub response_bytes: usize,
    /// Maximum number of concurrent calls.
    pub concurrent_calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            call: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            list: Duration::from_secs(15),
            poll: Duration::from_secs(60),
            max_backoff: Duration::from_secs(60),
            response_bytes: 8 * 1024 * 1024,
            concurrent_calls: 64,
        }
    }
}

/// Who may use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The lowest tier.
    pub tier: Tier,
    /// The required scopes.
    pub scopes: Vec<Scope>,
}

/// The rule of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolRule {
    /// Whether the tool is left out.
    pub is_excluded: bool,
    /// Who may use it, if not everyone who may use the other tools.
    pub rule: Option<Rule>,
}

/// What happens to the result of a tool that failed (`isError`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolErrors {
    /// It is relayed like any other result, so that the model can correct its arguments.
    #[default]
    Relay,
    /// It becomes `UPSTREAM_ERROR`, without the upstream's text.
    Normalize,
}

impl Settings {
    /// Who may use the tool with that name at the upstream; `None` if it is excluded.
    pub(crate) fn access_of(&self, tool: &str) -> Option<Access> {
        let own = self.tools.get(tool);
        if own.is_some_and(|own| own.is_excluded) {
            return None;
        }
        let rule = own.and_then(|own| own.rule.as_ref()).unwrap_or(&self.rule);
        Some(Access::scoped(self.name.clone(), rule.tier, rule.scopes.iter().cloned()))
    }

    /// All scopes that tools may require, with the lowest tier that may hold each.
    pub fn scopes(&self) -> impl Iterator<Item = (&Scope, Tier)> {
        let rules = self.tools.values().filter_map(|tool| tool.rule.as_ref());
        rules.chain([&self.rule]).flat_map(|rule| rule.scopes.iter().map(|scope| (scope, rule.tier)))
    }
}
