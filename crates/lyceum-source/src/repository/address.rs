//! The URL of a repository, and its credentials.

use std::path::PathBuf;

use lyceum_net::Secret;
use percent_encoding::percent_decode_str;

use super::origin::Origin;
use crate::{Error, github::App};

/// User name sent with a token. Servers ignore it; this is the name they suggest.
const ANY_USER: &str = "x-access-token";

/// Allowed protocols.
const PROTOCOLS: &[&str] = &["https", "http", "ssh", "git", "file"];

/// Prefixes of tokens that people write in place of a user name.
const TOKEN_PREFIXES: &[&str] = &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"];

/// A longer user name is taken for a token.
const MAX_USER_NAME_BYTES: usize = 31;

/// A URL without secrets, and the secret that was in it.
pub(super) struct Address {
    pub(super) url: String,
    /// The server, if the protocol supports a token.
    origin: Option<Origin>,
    user: Option<String>,
    secret: Credential,
}

/// The secret that a URL contained.
enum Credential {
    None,
    Token(Secret),
    /// Unusable: ssh takes no password from us.
    Dropped,
}

/// How to get credentials for a server.
pub(super) struct Access {
    user: String,
    token: TokenSource,
    pub(super) origin: Origin,
    askpass: PathBuf,
}

enum TokenSource {
    Fixed(Secret),
    App(App),
}

impl Access {
    /// The credentials; of an app, with a token that is valid for some minutes.
    pub(super) async fn login(&self) -> Result<Login, Error> {
        let token = match &self.token {
            TokenSource::Fixed(token) => token.clone(),
            TokenSource::App(app) => app.token().await.map_err(Error::App)?,
        };
        let (user, origin, askpass) = (self.user.clone(), self.origin.clone(), self.askpass.clone());
        Ok(Login { user, token, origin, askpass })
    }

    /// Forgets a token that the server does not accept, so that the next one is new.
    pub(super) fn refused(&self) {
        if let TokenSource::App(app) = &self.token {
            app.forget();
        }
    }
}

/// Credentials for a server.
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) token: Secret,
    /// The only server that gets them.
    pub(crate) origin: Origin,
    /// The askpass program.
    pub(crate) askpass: PathBuf,
}

impl Address {
    /// Parses a URL from the configuration. Errors don't repeat it, since it may contain a secret.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('-') || text.contains(char::is_control) {
            return Err(invalid("is empty, starts with '-' or contains a control character"));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            // Transports such as `ext::` run programs.
            let start = text.split(['/', '[']).next().unwrap_or_default();
            return if start.contains("::") { Err(invalid(NOT_ALLOWED)) } else { Ok(Self::plain(text)) };
        };
        let scheme = scheme.to_ascii_lowercase();
        if !PROTOCOLS.contains(&scheme.as_str()) {
            return Err(invalid(NOT_ALLOWED));
        }
        if scheme == "file" {
            return Ok(Self::plain(text));
        }
        let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = server.rsplit_once('@').map_or((None, server), |(user, host)| (Some(user), host));
        if !is_host(host) || text.contains(char::is_whitespace) {
            return Err(invalid(
                "has no valid host name; percent-encode '/', '@', ':' and spaces in a password",
            ));
        }
        let clean = format!("{scheme}://{host}{path}");
        match (scheme.as_str(), user) {
            ("http" | "https", Some(user)) => Self::of_web_user(text, clean, user),
            ("http" | "https", None) => Ok(Self { origin: Origin::parse(&clean), ..Self::plain(&clean) }),
            (_, Some(user)) => Ok(match user.split_once(':') {
                Some((user, _)) => Self {
                    secret: Credential::Dropped,
                    ..Self::plain(&format!("{scheme}://{user}@{host}{path}"))
                },
                None => Self::plain(text),
            }),
            (_, None) => Ok(Self::plain(text)),
        }
    }

    fn plain(url: &str) -> Self {
        Self { url: url.to_owned(), origin: None, user: None, secret: Credential::None }
    }

    /// Removes the user info from an http(s) URL, unless it is only a user name.
    fn of_web_user(text: &str, clean: String, user: &str) -> Result<Self, Error> {
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        let (name, password) = (decode(name), decode(password));
        let origin = Origin::parse(&clean);
        let looks_like_token =
            name.len() > MAX_USER_NAME_BYTES || TOKEN_PREFIXES.iter().any(|start| name.starts_with(start));
        let (user, secret) = match password.as_str() {
            "" | "x-oauth-basic" if looks_like_token => (None, name),
            "x-oauth-basic" => (None, name),
            // Credential helpers need the user name.
            "" => return Ok(Self { origin, user: Some(name), ..Self::plain(text) }),
            _ => (Some(name).filter(|name| !name.is_empty()), password),
        };
        let secret = Secret::new(&secret).map_err(|invalid| Error::Settings(invalid.to_string()))?;
        Ok(Self { url: clean, origin, user, secret: Credential::Token(secret) })
    }

    /// Whether the URL contained a secret.
    pub(super) fn had_secret(&self) -> bool {
        match self.secret {
            Credential::None => false,
            Credential::Token(_) | Credential::Dropped => true,
        }
    }

    /// Access by the configured app or token, else by the secret from the URL. Only http(s) supports tokens.
    pub(super) fn access(self, app: Option<App>, token: Option<Secret>, askpass: PathBuf) -> Option<Access> {
        let from_url = match self.secret {
            Credential::Token(secret) => Some(secret),
            Credential::None | Credential::Dropped => None,
        };
        let fixed = || token.or(from_url).map(TokenSource::Fixed);
        let token = app.map(TokenSource::App).or_else(fixed)?;
        let user = self.user.unwrap_or_else(|| ANY_USER.to_owned());
        Some(Access { user, token, origin: self.origin?, askpass })
    }
}

const NOT_ALLOWED: &str = "uses a protocol that is not allowed; use https, http, ssh, git or file";

fn invalid(what: &str) -> Error {
    Error::Settings(format!("the repository URL {what}"))
}

/// Whether a text is a host name or IP address, with or without a port.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (text, "0"),
    };
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '%');
    let is_ip6 = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let named = is_ip6.map_or_else(
        || !name.is_empty() && name.chars().all(in_name),
        |ip6| ip6.chars().all(|c| in_name(c) || c == ':'),
    );
    named && !port.is_empty() && port.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
