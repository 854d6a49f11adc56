//! Whether the server answers that a client was connected to.

use std::{fmt, time::Duration};

use lyceum_net::{ClientOptions, category};
use reqwest::{StatusCode, Url, header::AUTHORIZATION};

use super::server::{Key, Server};
use crate::config::key_variable;

/// How long to wait for the server: it is on this machine, or one that answers people.
const TIMEOUT: Duration = Duration::from_secs(3);

/// How a server answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// It answers.
    Answers,
    /// It asks for a sign-in or a key.
    AsksForSignIn,
    /// It refuses the key in this variable.
    RefusesKey,
    /// It answers, but there is no MCP at that URL.
    NotFound,
    /// It refuses the host name in the URL.
    Forbidden,
    /// It does not answer, for this reason.
    Unreachable(String),
}

/// Asks a server over HTTP. A client is connected whatever the answer is: the server may be started later.
pub(super) fn probe(server: &Server) -> Option<Probe> {
    let Server::Http { url, key } = server else { return None };
    let secret = match key {
        None => None,
        Some(Key::Value(secret)) => Some(secret.clone()),
        Some(Key::Variable(variable)) => key_variable(variable).and_then(Result::ok),
    };
    let url = Url::parse(url).ok()?;
    let bearer = secret.and_then(|secret| secret.bearer().ok());
    let has_key = bearer.is_some();
    Some(match ask(&url, bearer) {
        Err(reason) => Probe::Unreachable(reason),
        Ok(StatusCode::UNAUTHORIZED) if has_key => Probe::RefusesKey,
        Ok(StatusCode::UNAUTHORIZED) => Probe::AsksForSignIn,
        Ok(StatusCode::NOT_FOUND) => Probe::NotFound,
        Ok(StatusCode::FORBIDDEN) => Probe::Forbidden,
        Ok(_) => Probe::Answers,
    })
}

#[tokio::main(flavor = "current_thread")]
async fn ask(url: &Url, bearer: Option<reqwest::header::HeaderValue>) -> Result<StatusCode, String> {
    let options = ClientOptions { timeout: Some(TIMEOUT), ..ClientOptions::default() };
    let client = lyceum_net::client(url, options).map_err(|error| error.to_string())?;
    let mut request = client.get(url.clone());
    if let Some(bearer) = bearer {
        request = request.header(AUTHORIZATION, bearer);
    }
    let response = request.send().await.map_err(|error| category(&error).to_owned())?;
    Ok(response.status())
}

impl Probe {
    /// As JSON names it.
    pub(super) fn state(&self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::AsksForSignIn => "asks-for-sign-in",
            Self::RefusesKey => "refuses-key",
            Self::NotFound => "not-found",
            Self::Forbidden => "forbidden",
            Self::Unreachable(_) => "unreachable",
        }
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answers => f.write_str("The server answers."),
            Self::AsksForSignIn => f.write_str("The server answers, and asks for a sign-in."),
            Self::RefusesKey => f.write_str(
                "The server refuses the key; create one with lyceum key and name it in [[auth.api_key]].",
            ),
            Self::NotFound => f.write_str("A server answers, but it has no MCP at that URL; check --url."),
            Self::Forbidden => f.write_str("The server refuses that host name; see server.allowed_hosts."),
            Self::Unreachable(reason) => {
                write!(f, "The server does not answer yet ({reason}); start it with lyceum serve.")
            }
        }
    }
}
