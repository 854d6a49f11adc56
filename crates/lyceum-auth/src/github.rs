//! People and teams at GitHub: who signs in there, and which organisations and teams they are in.
//!
//! The person's own token is used once, to learn who they are, and thrown away. Which teams they are in is read with the
//! operator's token, so that it can be read again at any time.

use std::{fmt, time::Duration};

use lyceum_model::Tier;
use lyceum_net::{ClientOptions, category, client, read_body};
use reqwest::{
    Client, Method, RequestBuilder, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION},
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::roles::RolesUnavailable;

/// How long one answer may take, and how large it may be.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// How GitHub is used.
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

/// What is known of the application at GitHub.
#[derive(Clone)]
pub struct GitHubSettings {
    /// Where people sign in: `https://github.com`, or an own server.
    pub web: String,
    /// Where programs ask: `https://api.github.com`, or an own server.
    pub api: String,
    /// The id of the application; empty where nobody signs in there.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// A token that may read who is in which team.
    pub token: Option<String>,
    /// Organisations and teams, and the tier of whoever is in them.
    pub tiers: Vec<(Team, Tier)>,
}

/// An organisation, or a team of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    organisation: String,
    team: Option<String>,
}

/// The text names neither an organisation nor a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write an organisation, such as acme, or a team of one, such as acme/core")]
pub struct BadTeam;

/// The addresses of GitHub are not such.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the GitHub URL must be http or https")]
pub struct BadGitHub;

/// A person at GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Person {
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

/// Whose a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The person of that number.
    Person(u64),
    /// Nobody's: it is made up, over or taken back.
    Nobody,
}

/// What GitHub said, where it is not the answer to the question.
enum RequestFailure {
    /// There is no such thing.
    Nothing,
    /// The token that was sent is not good.
    BadToken,
    /// It can't be said now.
    Unreadable(RolesUnavailable),
}

impl Team {
    /// Reads `acme` or `acme/core`.
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

    /// Where it is said whether somebody is in it.
    fn path(&self, login: &str) -> String {
        let organisation = &self.organisation;
        match &self.team {
            None => format!("orgs/{organisation}/memberships/{login}"),
            Some(team) => format!("orgs/{organisation}/teams/{team}/memberships/{login}"),
        }
    }
}

impl GitHub {
    /// Gets ready to ask; nothing is sent yet.
    pub fn new(settings: GitHubSettings) -> Result<Self, BadGitHub> {
        let parse = |text: &str| {
            let url =
                Url::parse(&format!("{}/", text.trim().trim_end_matches('/'))).map_err(|_| BadGitHub)?;
            if matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(BadGitHub) }
        };
        let (web, api) = (parse(&settings.web)?, parse(&settings.api)?);
        // One may be reached through a proxy and the other not.
        let connect = |url: &Url| client(url, ClientOptions::default()).map_err(|_| BadGitHub);
        let (web_client, api_client) = (connect(&web)?, connect(&api)?);
        let GitHubSettings { client_id, client_secret, token, tiers, .. } = settings;
        Ok(Self { web, web_client, api, api_client, client_id, client_secret, token, tiers })
    }

    /// Where people sign in, as a policy of a page names it.
    pub(crate) fn origin(&self) -> String {
        self.web.origin().ascii_serialization()
    }

    /// Where a person is sent to sign in.
    pub(crate) fn sign_in(&self, callback: &str, state: &str) -> String {
        let mut url = self.web.clone();
        url.set_path(&format!("{}login/oauth/authorize", self.web.path()));
        url.query_pairs_mut()
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", callback)
            .append_pair("state", state)
            .append_pair("allow_signup", "false");
        url.into()
    }

    /// Who came back with that code; nobody where it is not good.
    pub(crate) async fn person(
        &self,
        code: &str,
        callback: &str,
    ) -> Result<Option<Person>, RolesUnavailable> {
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
        let granted: Option<TokenResponse> = optional(send(request).await)?;
        let Some(granted) = granted else { return Ok(None) };
        let token = match (granted.access_token, granted.error.as_deref()) {
            (Some(token), _) => token,
            (None, Some("bad_verification_code") | None) => return Ok(None),
            // The person can't help it: the id, the secret or the callback of the application is not as it is there.
            (None, Some(error)) => {
                return Err(RolesUnavailable::new(format!("GitHub refuses the application: {error}")));
            }
        };
        optional(send(self.request("user", Some(&token))).await)
    }

    /// Whose that token is.
    pub(crate) async fn owner(&self, token: &str) -> Result<Owner, RolesUnavailable> {
        match send::<Person>(self.request("user", Some(token))).await {
            Err(RequestFailure::BadToken) => Ok(Owner::Nobody),
            answer => Ok(optional(answer)?.map_or(Owner::Nobody, |person| Owner::Person(person.id))),
        }
    }

    /// The tier of somebody: the highest that any of their teams gives.
    pub(crate) async fn tier(&self, id: u64) -> Result<Tier, RolesUnavailable> {
        if self.tiers.is_empty() {
            return Ok(Tier::Public);
        }
        let token = self.token.as_deref();
        let person: Option<Person> = optional(send(self.request(&format!("user/{id}"), token)).await)?;
        // Whoever left GitHub is in no team.
        let Some(person) = person else { return Ok(Tier::Public) };
        let mut best = Tier::Public;
        for (team, tier) in self.tiers.iter().filter(|(_, tier)| *tier > Tier::Public) {
            if *tier <= best {
                continue;
            }
            let membership = send::<Membership>(self.request(&team.path(&person.login), token)).await;
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

/// What was asked for, or that there is none.
fn optional<T>(answer: Result<T, RequestFailure>) -> Result<Option<T>, RolesUnavailable> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(RequestFailure::Nothing) => Ok(None),
        Err(RequestFailure::BadToken) => {
            Err(RolesUnavailable::new("GitHub does not take the token that it is asked with".to_owned()))
        }
        Err(RequestFailure::Unreadable(error)) => Err(error),
    }
}

async fn send<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, RequestFailure> {
    let unreadable = |why: String| {
        RequestFailure::Unreadable(RolesUnavailable::new(format!("GitHub can't be asked now: {why}")))
    };
    let response = request
        .timeout(REQUEST_TIMEOUT)
        .send()
        .await
        .map_err(|error| unreadable(category(&error).to_owned()))?;
    match response.status() {
        status if status.is_success() => {}
        StatusCode::NOT_FOUND => return Err(RequestFailure::Nothing),
        StatusCode::UNAUTHORIZED => return Err(RequestFailure::BadToken),
        status => return Err(unreadable(format!("it answered with status {}", status.as_u16()))),
    }
    let body =
        read_body(response, MAX_RESPONSE_BYTES).await.map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_slice(&body).map_err(|_| unreadable("its answer can't be read".to_owned()))
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GitHub({})", self.web.host_str().unwrap_or_default())
    }
}
