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
    check::{Checker, is_plain},
};

/// The variable of the deployment's key, where none is named.
const KEY: &str = "COOKIE_ENCRYPTION_KEY";

/// The chain of names.
const ENS_CHAIN: u64 = 1;

/// Who may call, as it is declared.
#[derive(Debug, Clone)]
pub enum AuthService {
    /// Everyone may do everything.
    Open,
    /// It depends on who they are.
    Gated(Box<Oauth>),
}

/// How callers say who they are.
#[derive(Debug, Clone)]
pub struct Oauth {
    /// How they do.
    pub mode: AuthMode,
    /// Whether what is public is open to those who do not.
    pub anonymous: bool,
    /// The key of this deployment, where it is given.
    pub key: Option<Key>,
    /// Chains.
    pub chains: Vec<Arc<Chain>>,
    /// How long a role is taken as it was.
    pub roles_good_for: SignedDuration,
    /// Hats, and the chain they are on.
    pub hats: Option<(u64, Hats)>,
    /// The chain and the contract that names are read from.
    pub names: Option<(u64, Address)>,
    /// GitHub, where people can sign in there, or have tokens from there.
    pub github: Option<GitHub>,
    /// The wallet of WaaP.
    pub waap: Option<Waap>,
    /// Keys.
    pub keys: Vec<ApiKey>,
    /// Clients that are known by name.
    pub clients: Vec<Client>,
    /// Where documents about clients may be fetched from.
    pub guard: Guard,
}

impl Oauth {
    /// What an operator should know of it, though it is no fault.
    pub fn warnings(&self) -> Vec<&'static str> {
        let has_hats = self.hats.as_ref().is_some_and(|(_, hats)| !hats.hats.is_empty());
        let mut warnings = Vec::new();
        if !self.chains.is_empty() && !has_hats {
            warnings.push(
                "everyone who signs in with a wallet is public; name the hats that make a tier with [auth.hats] tiers",
            );
        }
        warnings
    }

    /// Whether people sign in at a page.
    pub fn has_sign_in(&self) -> bool {
        self.mode == AuthMode::Oauth
    }
}

impl AuthService {
    /// Whether everyone may do everything.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }
}

/// What the table declares, with every fault that the schema can't see.
pub(super) fn service(
    checker: &mut Checker<'_>,
    listen: SocketAddr,
    public_url: Option<&str>,
) -> AuthService {
    let mode = checker.document.values.pointer("/auth/mode").cloned();
    let mode = mode.and_then(|mode| serde_json::from_value(mode).ok()).unwrap_or(AuthMode::Open);
    if mode == AuthMode::Open {
        says_nothing_else(checker);
        return AuthService::Open;
    }
    let has_sign_in = mode == AuthMode::Oauth;
    if has_sign_in {
        has_an_address(checker, listen, public_url);
    }
    is_not_overheard(checker, public_url);
    let anonymous = checker.document.values.pointer("/auth/anonymous").and_then(Value::as_bool);
    let keys = ways::keys(checker);
    let chains = if has_sign_in { chains::chains(checker) } else { Vec::new() };
    let hats = if has_sign_in { chains::hats(checker, &chains) } else { None };
    let github = ways::github(checker, mode);
    if has_sign_in && chains.is_empty() && github.is_none() && keys.is_empty() {
        let message = "nobody could sign in: set MAINNET_RPC_URL and OPTIMISM_RPC_URL to the addresses of the chains, or add [auth.github] or an [[auth.api_key]]";
        checker.fault("/auth/mode", message.to_owned());
    }
    if mode == AuthMode::ApiKey && keys.is_empty() {
        let message = "there is no key that could be sent; add one with [[auth.api_key]]";
        checker.fault("/auth/mode", message.to_owned());
    }
    let seconds = checker.document.values.pointer("/auth/roles_seconds").and_then(Value::as_i64);
    let trusted = trusted_hosts(checker);
    AuthService::Gated(Box::new(Oauth {
        mode,
        // Whose token it is matters in that mode, so everybody sends one.
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

/// Whoever writes more than the mode expects that it counts.
fn says_nothing_else(checker: &mut Checker<'_>) {
    let table = checker.document.values.pointer("/auth").and_then(Value::as_object);
    let others: Vec<&String> =
        table.into_iter().flat_map(|table| table.keys()).filter(|key| *key != "mode").collect();
    // What is no key at all is told already.
    let is_told = checker.faults.iter().any(|fault| fault.key.starts_with("auth"));
    if let Some(first) = others.first().filter(|_| !is_told) {
        let at = format!("/auth/{first}");
        let message = "it has no effect, for everyone may do everything; write mode = \"oauth\", \"api-key\" or \"github-pat\" in [auth], or leave it out";
        checker.fault(&at, message.to_owned());
    }
}

/// People are sent to the page at an address that must be known.
fn has_an_address(checker: &mut Checker<'_>, listen: SocketAddr, public_url: Option<&str>) {
    if public_url.is_none() && !listen.ip().is_loopback() {
        let message = "people sign in at a page, so the address that they use must be known; set server.public_url, for example \"https://mcp.example.org\"";
        checker.fault("/auth/mode", message.to_owned());
    }
}

/// Keys and tokens come with requests in every mode but `open`, so nobody on the way may read them.
fn is_not_overheard(checker: &mut Checker<'_>, public_url: Option<&str>) {
    if public_url.is_some_and(is_plain) {
        let message = "keys and tokens are not sent over plain http; write the address with https";
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
        None => (KEY, checker.maybe_variable(KEY)?),
    };
    let key = Key::parse(&text);
    if key.is_none() {
        checker.fault(at, format!("the variable {name} does not hold 64 hexadecimal digits; make some with: openssl rand -hex 32"));
    }
    key
}
