//! The other ways to say who one is: GitHub and keys; and the clients that are known by name.

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
    check::{Checker, is_plain},
};

/// The variables of the application at GitHub, where none are named.
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
    let mut secret = |key: &str, usual: &'static str| {
        let at = format!("/auth/github/{key}");
        let name = checker.text(&at).unwrap_or(usual).to_owned();
        checker.variable(&at, &name)
    };
    let (client_id, client_secret) = match mode {
        AuthMode::Oauth => (
            secret("client_id_env", DEFAULT_CLIENT_ID_VARIABLE),
            secret("client_secret_env", DEFAULT_CLIENT_SECRET_VARIABLE),
        ),
        // Nobody signs in there.
        AuthMode::Open | AuthMode::ApiKey | AuthMode::GithubPat => (Some(String::new()), Some(String::new())),
    };
    let token = match (tiers.is_empty(), checker.text("/auth/github/token_env")) {
        (true, None) => None,
        (_, name) => checker.variable("/auth/github/token_env", name.unwrap_or(DEFAULT_TOKEN_VARIABLE)),
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

pub(super) fn keys(checker: &mut Checker<'_>) -> Vec<ApiKey> {
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
