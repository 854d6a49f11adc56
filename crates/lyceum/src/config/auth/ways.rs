//! Other authentication methods: GitHub and API keys; and preregistered OAuth clients.

use lyceum_auth::{
    ApiKey, GitHub, GitHubSettings, Kind, Team, Token,
    oauth::{
        Redirect,
        client::{Client, Proof, SecretMethod},
    },
};
use lyceum_model::Tier;
use serde_json::Value;

use super::super::{
    AuthMode,
    check::{Checker, is_unencrypted},
};

/// Default variables of the GitHub OAuth app.
const DEFAULT_CLIENT_ID_VARIABLE: &str = "GITHUB_CLIENT_ID";
const DEFAULT_CLIENT_SECRET_VARIABLE: &str = "GITHUB_CLIENT_SECRET";
const DEFAULT_TOKEN_VARIABLE: &str = "GITHUB_TOKEN";

pub(super) fn github(checker: &mut Checker<'_>, mode: AuthMode) -> Option<GitHub> {
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
    let mut secret = |key: &str, default: &'static str| {
        let at = format!("/auth/github/{key}");
        let name = checker.text(&at).unwrap_or(default).to_owned();
        checker.variable(&at, &name)
    };
    let (client_id, client_secret) = match mode {
        AuthMode::Oauth => (
            secret("client_id_env", DEFAULT_CLIENT_ID_VARIABLE),
            secret("client_secret_env", DEFAULT_CLIENT_SECRET_VARIABLE),
        ),
        // These modes have no sign-in at GitHub.
        AuthMode::Open | AuthMode::ApiKey | AuthMode::GithubPat => (Some(String::new()), Some(String::new())),
    };
    let token = match (tiers.is_empty(), checker.text("/auth/github/token_env")) {
        (true, None) => None,
        (_, name) => checker.variable("/auth/github/token_env", name.unwrap_or(DEFAULT_TOKEN_VARIABLE)),
    };
    let web = checker.text("/auth/github/web").unwrap_or("https://github.com").to_owned();
    let api = checker.text("/auth/github/api").unwrap_or("https://api.github.com").to_owned();
    if is_unencrypted(&web) || is_unencrypted(&api) {
        checker.fault("/auth/github", "secrets are not sent over plain http; use https".to_owned());
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

pub(super) fn keys(checker: &mut Checker<'_>) -> Vec<ApiKey> {
    let mut keys: Vec<ApiKey> = Vec::new();
    for at in checker.items("/auth/api_key") {
        let tier = checker.document.values.pointer(&format!("{at}/tier")).cloned();
        let tier = tier.and_then(|tier| serde_json::from_value(tier).ok());
        let (key_at, name) = (format!("{at}/key_env"), checker.text(&format!("{at}/name")));
        let (Some(name), Some(tier), Some(variable)) = (name, tier, checker.text(&key_at)) else { continue };
        if keys.iter().any(|key| key.name == name) {
            let message = format!("duplicate key name {name:?}; give each key its own name");
            checker.fault(&format!("{at}/name"), message);
        }
        let Some(text) = checker.variable(&key_at, variable) else { continue };
        match Token::parse(text.trim()).filter(|token| token.kind() == Kind::Key) {
            Some(token) => keys.push(ApiKey { name: name.to_owned(), hash: token.hash().0, tier }),
            None => {
                let message =
                    format!("the variable {variable} is not an API key; create one with: lyceum key");
                checker.fault(&key_at, message);
            }
        }
    }
    keys
}

pub(super) fn clients(checker: &mut Checker<'_>) -> Vec<Client> {
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
        let secret_at = format!("{at}/secret_env");
        let secret = checker.text(&secret_at).and_then(|name| checker.variable(&secret_at, name));
        if secret.as_ref().is_some_and(String::is_empty) {
            checker.fault(
                &secret_at,
                "the variable is empty; set it to the client secret, or remove secret_env".to_owned(),
            );
        }
        let proof =
            secret.map_or(Proof::None, |secret| Proof::secret(SecretMethod::ClientSecretBasic, &secret));
        let name = checker.text(&format!("{at}/name")).map(str::to_owned);
        clients.push(Client { id: id.to_owned(), name, redirects, proof });
    }
    clients
}
