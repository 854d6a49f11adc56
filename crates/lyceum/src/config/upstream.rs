//! The table `[upstream.NAME]`, and the variables of HTTP services.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lyceum_gateway::{Credential, DeclaredTool, Endpoint, Limits, Protocol, Rule, ToolErrors, ToolRule};
use lyceum_model::{Scope, Tier};
use lyceum_net::Secret;
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderName},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Source, Table,
    check::{Checker, is_unencrypted},
    raw::{self, UpstreamKind, UpstreamProtocol, UpstreamToolErrors},
};
use crate::service::Settings;

/// The scope that tools of upstreams require by default.
pub(crate) const TOOLS_CALL: Scope = Scope::from_static("tools:call");

/// The variable with the credential of all HTTP services that have none of their own.
const SHARED_SECRET: &str = "DOMAIN_SHARED_SECRET";

/// Settings of an upstream, without the name and the prefix that every service has.
#[derive(Debug, Clone)]
pub struct UpstreamService {
    /// What it is.
    pub endpoint: Endpoint,
    /// The credential of this server.
    pub credential: Option<Credential>,
    /// Timeouts and sizes.
    pub limits: Limits,
    /// Who may use its tools.
    pub rule: Rule,
    /// Rules of single tools.
    pub tools: BTreeMap<String, ToolRule>,
    /// What callers get if a tool reports that it failed.
    pub tool_errors: ToolErrors,
}

/// Validates a table beyond its schema.
pub(crate) fn check(checker: &mut Checker<'_>, table: &Table, _: &[Source]) -> Option<Arc<dyn Settings>> {
    let at = table.at.as_str();
    // Schema errors are reported already.
    let raw = raw::Upstream::deserialize(&table.values).ok()?;
    let domain = at.rsplit('/').next().unwrap_or_default().replace(['-', '.', ':'], "_").to_ascii_uppercase();
    let kind = raw.kind.unwrap_or_default();
    let url = url(checker, at, &domain, raw.url.as_deref());
    let credential = credential(checker, at, &domain, &raw, url.as_ref());
    let rule = rule(checker, at, raw.tier, raw.scopes.as_deref(), None);
    let mut tools = BTreeMap::new();
    for (name, tool) in &raw.tools {
        let at = format!("{at}/tools/{}", super::document::escaped(name));
        let own = tool.tier.is_some() || tool.scopes.is_some();
        let own = own.then(|| self::rule(checker, &at, tool.tier, tool.scopes.as_deref(), rule.as_ref()));
        tools.insert(name.clone(), ToolRule { is_excluded: tool.exclude, rule: own.flatten() });
    }
    let declared = declared(checker, at, kind, &raw.tools);
    let endpoint = match kind {
        UpstreamKind::Mcp => {
            Endpoint::Mcp { url: url?, protocol: protocol(raw.protocol.unwrap_or_default()) }
        }
        UpstreamKind::Service => Endpoint::Service { url: url?, tools: declared? },
    };
    let tool_errors = match raw.tool_errors.unwrap_or_default() {
        UpstreamToolErrors::Relay => ToolErrors::Relay,
        UpstreamToolErrors::Normalize => ToolErrors::Normalize,
    };
    let limits = limits(&raw);
    Some(Arc::new(UpstreamService {
        endpoint,
        credential: credential?,
        limits,
        rule: rule?,
        tools,
        tool_errors,
    }))
}

fn url(checker: &mut Checker<'_>, at: &str, domain: &str, written: Option<&str>) -> Option<Url> {
    let variable = format!("DOMAIN_{domain}_URL");
    let set = checker.optional_variable(&variable);
    let Some(text) = set.as_deref().or(written) else {
        let message = format!(
            "url is missing; write for example url = \"https://docs.example.org/mcp\", or set the variable {variable}"
        );
        checker.fault(at, message);
        return None;
    };
    let parsed = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let parsed = parsed.filter(|url| url.username().is_empty() && url.password().is_none());
    if parsed.is_none() {
        // Not repeated, for it may contain a secret.
        let message = "is not an http or https URL without a user name; write for example \
            url = \"https://docs.example.org/mcp\", and name the variable of a credential in token_env";
        checker.fault(&format!("{at}/url"), message.to_owned());
    }
    parsed
}

/// The credential; the outer `None` if it is invalid.
fn credential(
    checker: &mut Checker<'_>,
    at: &str,
    domain: &str,
    raw: &raw::Upstream,
    url: Option<&Url>,
) -> Option<Option<Credential>> {
    let header = match raw.token_header.as_deref().map(HeaderName::try_from) {
        None => AUTHORIZATION,
        Some(Ok(header)) => header,
        Some(Err(_)) => {
            let message = "is not a header name; write for example token_header = \"x-api-key\"";
            checker.fault(&format!("{at}/token_header"), message.to_owned());
            return None;
        }
    };
    let at = format!("{at}/token_env");
    let (name, value) = match &raw.token_env {
        Some(name) => (name.clone(), checker.variable(&at, name)?),
        None => match shared_secret(checker, domain, raw.kind.unwrap_or_default()) {
            Some(found) => found,
            None => return Some(None),
        },
    };
    if url.is_some_and(|url| is_unencrypted(url.as_str())) {
        checker.fault(&at, format!("{name} is not sent over plain http; use https"));
        return None;
    }
    match Secret::for_header(&value) {
        Ok(secret) => Some(Some(Credential { header, secret })),
        Err(error) => {
            checker.fault(&at, format!("the variable {name} can't be used: {error}"));
            None
        }
    }
}

/// The variable with the credential of an HTTP service that names none.
fn shared_secret(checker: &Checker<'_>, domain: &str, kind: UpstreamKind) -> Option<(String, String)> {
    // A configuration that may come from an untrusted checkout could send it anywhere.
    if kind == UpstreamKind::Mcp || !checker.document.may_name_secrets {
        return None;
    }
    let names = [format!("DOMAIN_{domain}_SECRET"), SHARED_SECRET.to_owned()];
    names.into_iter().find_map(|name| checker.optional_variable(&name).map(|value| (name, value)))
}

fn rule(
    checker: &mut Checker<'_>,
    at: &str,
    tier: Option<Tier>,
    scopes: Option<&[String]>,
    around: Option<&Rule>,
) -> Option<Rule> {
    let tier = tier.or(around.map(|rule| rule.tier)).unwrap_or(Tier::Member);
    let scopes = match scopes {
        None if tier == Tier::Public => Vec::new(),
        None => {
            let inherited = around.map(|rule| rule.scopes.clone()).filter(|scopes| !scopes.is_empty());
            inherited.unwrap_or_else(|| vec![TOOLS_CALL])
        }
        Some(written) => {
            let mut parsed = Vec::new();
            for (index, scope) in written.iter().enumerate() {
                match Scope::parse(scope) {
                    Ok(scope) => parsed.push(scope),
                    Err(error) => {
                        checker.fault(&format!("{at}/scopes/{index}"), error.to_string());
                        return None;
                    }
                }
            }
            parsed
        }
    };
    if tier > Tier::Public && scopes.is_empty() {
        let message = "must name a scope, because the tier is above \"public\": users grant scopes to their clients; \
            write for example scopes = [\"tools:call\"]";
        checker.fault(&format!("{at}/scopes"), message.to_owned());
        return None;
    }
    Some(Rule { tier, scopes })
}

/// The tools of an HTTP service. An MCP server defines its own.
fn declared(
    checker: &mut Checker<'_>,
    at: &str,
    kind: UpstreamKind,
    tools: &BTreeMap<String, raw::UpstreamTool>,
) -> Option<Vec<DeclaredTool>> {
    let mut declared = Vec::new();
    let mut is_whole = true;
    for (name, tool) in tools {
        let at = format!("{at}/tools/{}", super::document::escaped(name));
        let is_defined =
            tool.description.is_some() || tool.input_schema.is_some() || tool.output_schema.is_some();
        let is_defined = is_defined || tool.title.is_some() || tool.read_only.is_some();
        match (kind, &tool.description) {
            (UpstreamKind::Mcp, _) if is_defined => {
                let message =
                    "an MCP server defines its tools itself; only exclude, tier and scopes have an effect";
                checker.fault(&at, message.to_owned());
                is_whole = false;
            }
            (UpstreamKind::Mcp, _) => {}
            (UpstreamKind::Service, None) => {
                let message =
                    "description is missing; write what the tool does and when to use it, for the model";
                checker.fault(&at, message.to_owned());
                is_whole = false;
            }
            (UpstreamKind::Service, Some(description)) => declared.push(DeclaredTool {
                name: name.clone(),
                title: tool.title.clone(),
                description: description.clone(),
                input_schema: tool.input_schema.clone().unwrap_or_else(any_object),
                output_schema: tool.output_schema.clone(),
                is_read_only: tool.read_only.unwrap_or_default(),
            }),
        }
    }
    if kind == UpstreamKind::Service && tools.is_empty() {
        let message = "declares no tools, and an HTTP service can't be asked for them; write for example \
            [upstream.NAME.tools.get_invoice] with a description";
        checker.fault(at, message.to_owned());
        is_whole = false;
    }
    is_whole.then_some(declared)
}

fn any_object() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), "object".into())])
}

fn protocol(written: UpstreamProtocol) -> Protocol {
    match written {
        UpstreamProtocol::Auto => Protocol::Auto,
        UpstreamProtocol::Modern => Protocol::Modern,
        UpstreamProtocol::Legacy => Protocol::Legacy,
    }
}

fn limits(raw: &raw::Upstream) -> Limits {
    let default = Limits::default();
    let seconds = |written: Option<u64>, default: Duration| written.map_or(default, Duration::from_secs);
    Limits {
        connect: seconds(raw.connect_seconds, default.connect),
        call: seconds(raw.call_seconds, default.call),
        idle: seconds(raw.idle_seconds, default.idle),
        list: seconds(raw.list_seconds, default.list),
        poll: seconds(raw.poll_seconds, default.poll),
        max_backoff: default.max_backoff,
        response_bytes: raw.response_bytes.unwrap_or(default.response_bytes),
        concurrent_calls: raw.concurrent_calls.unwrap_or(default.concurrent_calls),
    }
}
