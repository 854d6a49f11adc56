//! The table `[auth]`.

use std::{net::SocketAddr, sync::Arc};

use jiff::SignedDuration;
use lyceum_auth::{
    Address, ApiKey, Chain, ENS_RESOLVER, GitHub, GitHubSettings, Guard, HATS_CONTRACT, Hat, Hats, Key, Kind,
    ROLES_GOOD_FOR, Team, Token,
    oauth::{
        Redirect,
        client::{Client, Proof, SecretMethod},
    },
};
use lyceum_model::Tier;
use serde_json::Value;

use super::{
    AuthMode,
    check::{Checker, is_plain},
};
use crate::http::Origin;

/// The variable of the deployment's key, where none is named.
const KEY: &str = "COOKIE_ENCRYPTION_KEY";

/// The chains there are where none is named, and the variables of their addresses.
const CHAINS: [(u64, &str); 2] = [(1, "MAINNET_RPC_URL"), (10, "OPTIMISM_RPC_URL")];

/// The chain of the hats, and the hats, where none are named.
const HATS_CHAIN: u64 = 10;
const HATS: [(&str, Tier); 2] = [("30.3.1", Tier::Vibecoder), ("30.3.5", Tier::Member)];

/// The variables of the application at GitHub, where none are named.
const GITHUB_ID: &str = "GITHUB_CLIENT_ID";
const GITHUB_SECRET: &str = "GITHUB_CLIENT_SECRET";
const GITHUB_TOKEN: &str = "GITHUB_TOKEN";

/// The frame of WaaP, where none is named.
const WAAP_FRAME: &str = "https://waap.xyz";

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

/// The wallet of WaaP, as the page brings it in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waap {
    /// Its script.
    pub script: String,
    /// The origin of the script.
    pub script_origin: String,
    /// The digest of the script.
    pub integrity: Option<String>,
    /// The origin of its frame.
    pub frame_origin: String,
}

impl Oauth {
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
    let anonymous = checker.document.values.pointer("/auth/anonymous").and_then(Value::as_bool);
    let keys = keys(checker);
    let chains = if has_sign_in { chains(checker) } else { Vec::new() };
    let hats = if has_sign_in { hats(checker, &chains) } else { None };
    let github = github(checker, mode);
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
        roles_good_for: seconds.map_or(ROLES_GOOD_FOR, SignedDuration::from_secs),
        waap: if has_sign_in { waap(checker) } else { None },
        key: key(checker),
        clients: clients(checker),
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

/// People are sent to the page at an address that must be theirs and ours, and that nobody can listen in on.
fn has_an_address(checker: &mut Checker<'_>, listen: SocketAddr, public_url: Option<&str>) {
    match public_url {
        None if !listen.ip().is_loopback() => {
            let message = "people sign in at a page, so the address that they use must be known; set server.public_url, for example \"https://mcp.example.org\"";
            checker.fault("/auth/mode", message.to_owned());
        }
        Some(url) if is_plain(url) => {
            let message = "tokens are not sent over plain http; write the address with https";
            checker.fault("/server/public_url", message.to_owned());
        }
        Some(_) | None => {}
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

fn chains(checker: &mut Checker<'_>) -> Vec<Arc<Chain>> {
    let named: Vec<(String, u64, String)> = checker
        .items("/auth/chain")
        .filter_map(|at| {
            let id = checker.document.values.pointer(&format!("{at}/id"))?.as_u64()?;
            let at = format!("{at}/url_env");
            let name = checker.text(&at)?.to_owned();
            Some((at, id, name))
        })
        .collect();
    let mut chains = Vec::new();
    for (at, id, name) in &named {
        if let Some(url) = checker.variable(at, name) {
            chains.extend(chain(checker, at, *id, name, &url));
        }
    }
    if named.is_empty() {
        for (id, name) in CHAINS {
            if let Some(url) = checker.maybe_variable(name) {
                chains.extend(chain(checker, "/auth/chain", id, name, &url));
            }
        }
        if !chains.is_empty() && !chains.iter().any(|chain| chain.id() == HATS_CHAIN) {
            let message = "without it nobody has a role: OPTIMISM_RPC_URL holds the address of the chain of the hats; set it, or name the chains with [[auth.chain]]";
            checker.fault("/auth/mode", message.to_owned());
        }
    }
    chains
}

fn chain(checker: &mut Checker<'_>, at: &str, id: u64, name: &str, url: &str) -> Option<Arc<Chain>> {
    match Chain::new(id, url) {
        Ok(chain) => Some(Arc::new(chain)),
        Err(error) => {
            checker.fault(at, format!("the variable {name} can't be used: {error}"));
            None
        }
    }
}

fn hats(checker: &mut Checker<'_>, chains: &[Arc<Chain>]) -> Option<(u64, Hats)> {
    let table = checker.document.values.pointer("/auth/hats");
    let is_written = table.is_some();
    let id = table.and_then(|table| table.get("chain")?.as_u64()).unwrap_or(HATS_CHAIN);
    let contract = match checker.text("/auth/hats/contract").map(str::parse) {
        None => HATS_CONTRACT,
        Some(Ok(contract)) => contract,
        Some(Err(_)) => {
            let message = format!(
                "it is not the address of a contract; write for example contract = \"{HATS_CONTRACT}\""
            );
            checker.fault("/auth/hats/contract", message);
            HATS_CONTRACT
        }
    };
    let named = table.and_then(|table| table.get("tiers")?.as_object()).into_iter().flatten();
    let named: Vec<(String, Tier)> = named
        .filter_map(|(hat, tier)| Some((hat.clone(), serde_json::from_value(tier.clone()).ok()?)))
        .collect();
    let usual = || HATS.map(|(hat, tier)| (hat.to_owned(), tier)).to_vec();
    let named = if named.is_empty() { usual() } else { named };
    let mut hats = Vec::new();
    for (text, tier) in named {
        match Hat::parse(&text) {
            Ok(hat) => hats.push((hat, tier)),
            Err(error) => checker.fault("/auth/hats/tiers", format!("{text:?}: {error}")),
        }
    }
    if !chains.iter().any(|chain| chain.id() == id) {
        if is_written {
            let message = format!(
                "the hats are on chain {id}, which is none of the chains; add it with [[auth.chain]]"
            );
            checker.fault("/auth/hats", message);
        }
        return None;
    }
    Some((id, Hats { contract, hats }))
}

fn github(checker: &mut Checker<'_>, mode: AuthMode) -> Option<GitHub> {
    let table = checker.document.values.pointer("/auth/github");
    if mode == AuthMode::ApiKey || (mode == AuthMode::Oauth && table.is_none()) {
        return None;
    }
    let named = table.and_then(|table| table.get("tiers")?.as_object()).into_iter().flatten();
    let named: Vec<(String, Tier)> = named
        .filter_map(|(team, tier)| Some((team.clone(), serde_json::from_value(tier.clone()).ok()?)))
        .collect();
    let mut tiers = Vec::new();
    for (text, tier) in named {
        match Team::parse(&text) {
            Ok(team) => tiers.push((team, tier)),
            Err(error) => checker.fault("/auth/github/tiers", format!("{text:?}: {error}")),
        }
    }
    let mut secret = |key: &str, usual: &'static str| {
        let at = format!("/auth/github/{key}");
        let name = checker.text(&at).unwrap_or(usual).to_owned();
        checker.variable(&at, &name)
    };
    let (client_id, client_secret) = match mode {
        AuthMode::Oauth => (secret("client_id_env", GITHUB_ID), secret("client_secret_env", GITHUB_SECRET)),
        // Nobody signs in there.
        AuthMode::Open | AuthMode::ApiKey | AuthMode::GithubPat => (Some(String::new()), Some(String::new())),
    };
    let token = match (tiers.is_empty(), checker.text("/auth/github/token_env")) {
        (true, None) => None,
        (_, name) => checker.variable("/auth/github/token_env", name.unwrap_or(GITHUB_TOKEN)),
    };
    let web = checker.text("/auth/github/web").unwrap_or("https://github.com").to_owned();
    let api = checker.text("/auth/github/api").unwrap_or("https://api.github.com").to_owned();
    if is_plain(&web) || is_plain(&api) {
        checker.fault(
            "/auth/github",
            "secrets are not sent over plain http; write the addresses with https".to_owned(),
        );
        return None;
    }
    let (client_id, client_secret) = (client_id?, client_secret?);
    match GitHub::new(GitHubSettings { web, api, client_id, client_secret, token, tiers }) {
        Ok(github) => Some(github),
        Err(error) => {
            checker.fault("/auth/github", error.to_string());
            None
        }
    }
}

fn waap(checker: &mut Checker<'_>) -> Option<Waap> {
    let script = checker.text("/auth/waap/script_url")?.to_owned();
    let root = script.split('/').take(3).collect::<Vec<_>>().join("/");
    let is_good = !is_plain(&script) && Origin::parse(&root).is_some();
    if !is_good {
        let message =
            "it is not an address of https; a script in the sign-in page must not change on its way";
        checker.fault("/auth/waap/script_url", message.to_owned());
    }
    let frame = checker.text("/auth/waap/frame_origin").unwrap_or(WAAP_FRAME).to_owned();
    if Origin::parse(&frame).is_none() {
        let message = format!("it is not an origin; write for example frame_origin = \"{WAAP_FRAME}\"");
        checker.fault("/auth/waap/frame_origin", message);
    }
    let integrity = checker.text("/auth/waap/integrity").map(str::to_owned);
    Some(Waap { script, script_origin: root, integrity, frame_origin: frame })
}

fn keys(checker: &mut Checker<'_>) -> Vec<ApiKey> {
    let mut keys: Vec<ApiKey> = Vec::new();
    for at in checker.items("/auth/api_key") {
        let tier = checker.document.values.pointer(&format!("{at}/tier")).cloned();
        let tier = tier.and_then(|tier| serde_json::from_value(tier).ok());
        let (place, name) = (format!("{at}/key_env"), checker.text(&format!("{at}/name")));
        let (Some(name), Some(tier), Some(variable)) = (name, tier, checker.text(&place)) else { continue };
        if keys.iter().any(|key| key.name == name) {
            let message = format!("{name:?} is the name of an earlier key; give each its own");
            checker.fault(&format!("{at}/name"), message);
        }
        let Some(text) = checker.variable(&place, variable) else { continue };
        match Token::parse(text.trim()).filter(|token| token.kind() == Kind::Key) {
            Some(token) => keys.push(ApiKey { name: name.to_owned(), hash: token.hash().0, tier }),
            None => {
                let message =
                    format!("the variable {variable} does not hold a key; make one with: lyceum key");
                checker.fault(&place, message);
            }
        }
    }
    keys
}

fn clients(checker: &mut Checker<'_>) -> Vec<Client> {
    let mut clients = Vec::new();
    for at in checker.items("/auth/client") {
        let Some(id) = checker.text(&format!("{at}/id")) else { continue };
        let pointer = format!("{at}/redirect_uris");
        let addresses = checker.document.values.pointer(&pointer).and_then(Value::as_array);
        let addresses = addresses.into_iter().flatten().filter_map(Value::as_str);
        let mut redirects = Vec::new();
        for address in addresses {
            match Redirect::parse(address) {
                Ok(redirect) => redirects.push(redirect),
                Err(fault) => checker.fault(&pointer, format!("{address:?}: {fault}")),
            }
        }
        let place = format!("{at}/secret_env");
        let secret = checker.text(&place).and_then(|name| checker.variable(&place, name));
        if secret.as_ref().is_some_and(String::is_empty) {
            checker.fault(
                &place,
                "the variable is empty; put a secret into it, or leave secret_env out".to_owned(),
            );
        }
        let proof =
            secret.map_or(Proof::None, |secret| Proof::secret(SecretMethod::ClientSecretBasic, &secret));
        let name = checker.text(&format!("{at}/name")).map(str::to_owned);
        clients.push(Client { id: id.to_owned(), name, redirects, proof });
    }
    clients
}
