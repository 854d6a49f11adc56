//! GitHub users: sign-in, and membership of organisations and teams.
//!
//! The user's access token is used once, to read their identity, and discarded. Memberships are read with the
//! operator's token, so they can be read at any time.

use std::{fmt, time::Duration};

use lyceum_model::Tier;
use lyceum_net::{ClientOptions, category, client, read_body};
use reqwest::{
    Client, Method, RequestBuilder, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION},
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::roles::RolesUnavailable;

/// Timeout and size limit of a response.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Client of GitHub.
#[derive(Clone)]
pub struct GitHub {
    web: Url,
    web_client: Client,
    api: Url,
    api_client: Client,
    client_id: String,
    client_secret: String,
    token: Option<String>,
    tiers: Vec<(Team, Tier)>,
}

/// Settings of the GitHub OAuth app.
#[derive(Clone)]
pub struct GitHubSettings {
    /// Web base URL: `https://github.com`, or a GitHub Enterprise server.
    pub web: String,
    /// API base URL: `https://api.github.com`, or a GitHub Enterprise server.
    pub api: String,
    /// Client id of the OAuth app; empty if users don't sign in there.
    pub client_id: String,
    /// Client secret.
    pub client_secret: String,
    /// Token that may read memberships.
    pub token: Option<String>,
    /// Organisations and teams, with the tier of their members.
    pub tiers: Vec<(Team, Tier)>,
}

/// An organisation, or a team of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    organisation: String,
    team: Option<String>,
}

/// Not the name of an organisation or team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write an organisation, such as acme, or a team of one, such as acme/core")]
pub struct BadTeam;

/// A GitHub URL is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the GitHub URL must be http or https")]
pub struct BadGitHub;

/// A GitHub user.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct User {
    pub(crate) id: u64,
    pub(crate) login: String,
    #[serde(default)]
    pub(crate) avatar_url: Option<String>,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Membership {
    state: String,
}

/// Owner of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user with this id.
    User(u64),
    /// None: the token is invalid, expired or revoked.
    Invalid,
}

/// Why a request failed.
enum RequestFailure {
    /// 404.
    NotFound,
    /// 401: the token was rejected.
    Unauthorized,
    /// Any other failure.
    Unavailable(RolesUnavailable),
}

impl Team {
    /// Parses `acme` or `acme/core`.
    pub fn parse(text: &str) -> Result<Self, BadTeam> {
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= 100
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && !name.starts_with('.')
        };
        let (organisation, team) = match text.split_once('/') {
            None => (text, None),
            Some((organisation, team)) => (organisation, Some(team)),
        };
        if !is_name(organisation) || !team.is_none_or(is_name) {
            return Err(BadTeam);
        }
        Ok(Self { organisation: organisation.to_owned(), team: team.map(str::to_owned) })
    }

    /// API path of a user's membership.
    fn path(&self, login: &str) -> String {
        let organisation = &self.organisation;
        match &self.team {
            None => format!("orgs/{organisation}/memberships/{login}"),
            Some(team) => format!("orgs/{organisation}/teams/{team}/memberships/{login}"),
        }
    }
}

impl GitHub {
    /// Creates the client; sends nothing yet.
    pub fn new(settings: GitHubSettings) -> Result<Self, BadGitHub> {
        let parse = |text: &str| {
            let url =
                Url::parse(&format!("{}/", text.trim().trim_end_matches('/'))).map_err(|_| BadGitHub)?;
            if matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(BadGitHub) }
        };
        let (web, api) = (parse(&settings.web)?, parse(&settings.api)?);
        // One may need the proxy and the other not.
        let connect = |url: &Url| client(url, ClientOptions::default()).map_err(|_| BadGitHub);
        let (web_client, api_client) = (connect(&web)?, connect(&api)?);
        let GitHubSettings { client_id, client_secret, token, tiers, .. } = settings;
        Ok(Self { web, web_client, api, api_client, client_id, client_secret, token, tiers })
    }

    /// API base URL, with a trailing slash: where callers' tokens may be sent.
    pub fn api(&self) -> &Url {
        &self.api
    }

    /// Web base URL, with a trailing slash.
    pub fn web(&self) -> &Url {
        &self.web
    }

    /// Origin of the sign-in page, for the Content Security Policy.
    pub(crate) fn origin(&self) -> String {
        self.web.origin().ascii_serialization()
    }

    /// URL of GitHub's authorization page.
    pub(crate) fn authorization_url(&self, callback: &str, state: &str) -> String {
        let mut url = self.web.clone();
        url.set_path(&format!("{}login/oauth/authorize", self.web.path()));
        url.query_pairs_mut()
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", callback)
            .append_pair("state", state)
            .append_pair("allow_signup", "false");
        url.into()
    }

    /// Exchanges a code for the user's identity; `None` if the code is invalid.
    pub(crate) async fn user_by_code(
        &self,
        code: &str,
        callback: &str,
    ) -> Result<Option<User>, RolesUnavailable> {
        let mut url = self.web.clone();
        url.set_path(&format!("{}login/oauth/access_token", self.web.path()));
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &self.client_id)
            .append_pair("client_secret", &self.client_secret)
            .append_pair("code", code)
            .append_pair("redirect_uri", callback)
            .finish();
        let request = self
            .web_client
            .post(url)
            .header("content-type", "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json")
            .body(form);
        let response: Option<TokenResponse> = optional(send(request).await)?;
        let Some(response) = response else { return Ok(None) };
        let token = match (response.access_token, response.error.as_deref()) {
            (Some(token), _) => token,
            (None, Some("bad_verification_code") | None) => return Ok(None),
            // A configuration error: client id, secret or callback URL don't match the OAuth app.
            (None, Some(error)) => {
                return Err(RolesUnavailable::new(format!("GitHub rejected the OAuth app: {error}")));
            }
        };
        optional(send(self.request("user", Some(&token))).await)
    }

    /// Finds the owner of a token.
    pub(crate) async fn owner(&self, token: &str) -> Result<Owner, RolesUnavailable> {
        match send::<User>(self.request("user", Some(token))).await {
            Err(RequestFailure::Unauthorized) => Ok(Owner::Invalid),
            result => Ok(optional(result)?.map_or(Owner::Invalid, |user| Owner::User(user.id))),
        }
    }

    /// Tier of a user: the highest of their teams.
    pub(crate) async fn tier(&self, id: u64) -> Result<Tier, RolesUnavailable> {
        if self.tiers.is_empty() {
            return Ok(Tier::Public);
        }
        let token = self.token.as_deref();
        let user: Option<User> = optional(send(self.request(&format!("user/{id}"), token)).await)?;
        // A deleted user is in no team.
        let Some(user) = user else { return Ok(Tier::Public) };
        let mut best = Tier::Public;
        for (team, tier) in self.tiers.iter().filter(|(_, tier)| *tier > Tier::Public) {
            if *tier <= best {
                continue;
            }
            let membership = send::<Membership>(self.request(&team.path(&user.login), token)).await;
            if optional(membership)?.is_some_and(|membership| membership.state == "active") {
                best = *tier;
            }
        }
        Ok(best)
    }

    fn request(&self, path: &str, token: Option<&str>) -> RequestBuilder {
        let mut url = self.api.clone();
        url.set_path(&format!("{}{path}", self.api.path()));
        let request = self.api_client.request(Method::GET, url).header(ACCEPT, "application/vnd.github+json");
        match token {
            Some(token) => request.header(AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        }
    }
}

/// Maps a 404 to `None`.
fn optional<T>(result: Result<T, RequestFailure>) -> Result<Option<T>, RolesUnavailable> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(RequestFailure::NotFound) => Ok(None),
        Err(RequestFailure::Unauthorized) => {
            Err(RolesUnavailable::new("GitHub rejected the access token".to_owned()))
        }
        Err(RequestFailure::Unavailable(error)) => Err(error),
    }
}

async fn send<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, RequestFailure> {
    let unavailable = |why: String| {
        RequestFailure::Unavailable(RolesUnavailable::new(format!("GitHub can't be reached: {why}")))
    };
    let response = request
        .timeout(REQUEST_TIMEOUT)
        .send()
        .await
        .map_err(|error| unavailable(category(&error).to_owned()))?;
    match response.status() {
        status if status.is_success() => {}
        StatusCode::NOT_FOUND => return Err(RequestFailure::NotFound),
        StatusCode::UNAUTHORIZED => return Err(RequestFailure::Unauthorized),
        status => return Err(unavailable(format!("HTTP status {}", status.as_u16()))),
    }
    let body =
        read_body(response, MAX_RESPONSE_BYTES).await.map_err(|error| unavailable(error.to_string()))?;
    serde_json::from_slice(&body).map_err(|_| unavailable("invalid response".to_owned()))
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GitHub({})", self.web.host_str().unwrap_or_default())
    }
}
