//! The table `[auth]`.

mod chains;
mod waap;
mod ways;

use std::{net::SocketAddr, sync::Arc};

use jiff::SignedDuration;
use lyceum_auth::{
    Address, ApiKey, Chain, DEFAULT_ROLES_TTL, ENS_RESOLVER, GitHub, Guard, Hats, Key, oauth::client::Client,
};
use serde_json::Value;

pub use waap::{Waap, WaapConfig, WaapProject, WaapSettings, WaapStyles};

use super::{
    AuthMode,
    check::{Checker, is_unencrypted},
};

/// Default variable with the encryption key of the deployment.
const KEY: &str = "COOKIE_ENCRYPTION_KEY";

/// The chain of ENS.
const ENS_CHAIN: u64 = 1;

/// Authentication settings.
#[derive(Debug, Clone)]
pub enum AuthService {
    /// No authentication: every caller may do everything.
    Open,
    /// Callers authenticate; permissions depend on who they are.
    Gated(Box<Oauth>),
}

/// Settings of authentication.
#[derive(Debug, Clone)]
pub struct Oauth {
    /// How callers authenticate.
    pub mode: AuthMode,
    /// Whether anonymous callers may read public content.
    pub anonymous: bool,
    /// Encryption key of this deployment, if configured.
    pub key: Option<Key>,
    /// Chains for wallet sign-in.
    pub chains: Vec<Arc<Chain>>,
    /// How long roles are cached.
    pub roles_good_for: SignedDuration,
    /// Hats that grant tiers, and their chain.
    pub hats: Option<(u64, Hats)>,
    /// Chain and contract of ENS.
    pub names: Option<(u64, Address)>,
    /// GitHub, for sign-in or for personal access tokens.
    pub github: Option<GitHub>,
    /// The WaaP wallet on the sign-in page.
    pub waap: Option<Waap>,
    /// API keys.
    pub keys: Vec<ApiKey>,
    /// Preregistered OAuth clients.
    pub clients: Vec<Client>,
    /// SSRF guard for client metadata documents and ENS records.
    pub guard: Guard,
}

impl Oauth {
    /// Warnings for the operator: risky, but not errors.
    pub fn warnings(&self) -> Vec<&'static str> {
        let has_hats = self.hats.as_ref().is_some_and(|(_, hats)| !hats.hats.is_empty());
        let mut warnings = Vec::new();
        if !self.chains.is_empty() && !has_hats {
            warnings.push(
                "everyone who signs in with a wallet gets the tier public; map hats to tiers with [auth.hats] tiers",
            );
        }
        warnings
    }

    /// Whether there is a sign-in page.
    pub fn has_sign_in(&self) -> bool {
        self.mode == AuthMode::Oauth
    }
}

impl AuthService {
    /// Whether there is no authentication.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }
}

/// Validates the table beyond its schema.
pub(super) fn service(
    checker: &mut Checker<'_>,
    listen: SocketAddr,
    public_url: Option<&str>,
) -> AuthService {
    let mode = checker.document.values.pointer("/auth/mode").cloned();
    let mode = mode.and_then(|mode| serde_json::from_value(mode).ok()).unwrap_or(AuthMode::Open);
    if mode == AuthMode::Open {
        refuse_unused_keys(checker);
        return AuthService::Open;
    }
    let has_sign_in = mode == AuthMode::Oauth;
    if has_sign_in {
        require_public_url(checker, listen, public_url);
    }
    require_https(checker, public_url);
    let anonymous = checker.document.values.pointer("/auth/anonymous").and_then(Value::as_bool);
    let keys = ways::keys(checker);
    let chains = if has_sign_in { chains::chains(checker) } else { Vec::new() };
    let hats = if has_sign_in { chains::hats(checker, &chains) } else { None };
    let github = ways::github(checker, mode);
    // A key or GitHub with errors of its own is reported already.
    let has_keys = checker.items("/auth/api_key").next().is_some();
    let has_github = github.is_some() || checker.document.values.pointer("/auth/github").is_some();
    let has_chains = !chains.is_empty() || checker.items("/auth/chain").next().is_some();
    if has_sign_in && !has_chains && !has_github && !has_keys {
        let message = "nobody could sign in; set MAINNET_RPC_URL and OPTIMISM_RPC_URL to JSON-RPC endpoints, or add [auth.github] or an [[auth.api_key]]";
        checker.fault("/auth/mode", message.to_owned());
    }
    if mode == AuthMode::ApiKey && !has_keys {
        let message = "no API key is configured; add an [[auth.api_key]]";
        checker.fault("/auth/mode", message.to_owned());
    }
    let seconds = checker.document.values.pointer("/auth/roles_seconds").and_then(Value::as_i64);
    let trusted = trusted_hosts(checker);
    AuthService::Gated(Box::new(Oauth {
        mode,
        // In this mode, the token of each caller decides what they may read, so there is no anonymous access.
        anonymous: anonymous.unwrap_or(mode != AuthMode::GithubPat),
        roles_good_for: seconds.map_or(DEFAULT_ROLES_TTL, SignedDuration::from_secs),
        waap: if has_sign_in { waap::waap(checker) } else { None },
        key: key(checker),
        clients: ways::clients(checker),
        names: chains.iter().any(|chain| chain.id() == ENS_CHAIN).then_some((ENS_CHAIN, ENS_RESOLVER)),
        chains,
        hats,
        github,
        keys,
        guard: Guard { trusted },
    }))
}

/// Mode "open" ignores all other keys, so they are an error: somebody expects them to have an effect.
fn refuse_unused_keys(checker: &mut Checker<'_>) {
    let table = checker.document.values.pointer("/auth").and_then(Value::as_object);
    let others: Vec<&String> =
        table.into_iter().flat_map(|table| table.keys()).filter(|key| *key != "mode").collect();
    // An unknown key is reported already.
    let is_reported = checker.faults.iter().any(|fault| fault.key.starts_with("auth"));
    if let Some(first) = others.first().filter(|_| !is_reported) {
        let at = format!("/auth/{first}");
        let message = "has no effect, because auth.mode is \"open\"; write mode = \"oauth\", \"api-key\" or \"github-pat\" in [auth], or remove it";
        checker.fault(&at, message.to_owned());
    }
}

/// The sign-in page needs a known URL.
fn require_public_url(checker: &mut Checker<'_>, listen: SocketAddr, public_url: Option<&str>) {
    if public_url.is_none() && !listen.ip().is_loopback() {
        let message = "the sign-in page needs a public URL; set server.public_url, for example \"https://mcp.example.org\"";
        checker.fault("/auth/mode", message.to_owned());
    }
}

/// In every mode but `open`, requests carry keys or tokens, so they need an encrypted connection.
fn require_https(checker: &mut Checker<'_>, public_url: Option<&str>) {
    if public_url.is_some_and(is_unencrypted) {
        let message = "keys and tokens are not sent over plain http; use https";
        checker.fault("/server/public_url", message.to_owned());
    }
}

fn trusted_hosts(checker: &mut Checker<'_>) -> Vec<String> {
    let mut hosts = Vec::new();
    for at in checker.items("/auth/trusted_hosts") {
        let Some(text) = checker.text(&at).map(str::to_owned) else { continue };
        if text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
            hosts.push(text);
        } else {
            checker.fault(&at, format!("{text:?} has no port; write for example \"clients.internal:443\""));
        }
    }
    hosts
}

fn key(checker: &mut Checker<'_>) -> Option<Key> {
    let at = "/auth/key_env";
    let (name, text) = match checker.text(at) {
        Some(name) => (name, checker.variable(at, name)?),
        None => (KEY, checker.optional_variable(KEY)?),
    };
    let key = Key::parse(&text);
    if key.is_none() {
        checker.fault(
            at,
            format!(
                "the variable {name} must be 64 hexadecimal digits; create them with: openssl rand -hex 32"
            ),
        );
    }
    key
}
