//! The address of a repository, and what opens it.

use std::path::PathBuf;

use lyceum_net::Secret;
use percent_encoding::percent_decode_str;

use super::origin::Origin;
use crate::Error;

/// Who a token belongs to matters to no server that we know; this is the name they suggest.
const ANY_USER: &str = "x-access-token";

/// The protocols that a repository may be fetched with.
const PROTOCOLS: &[&str] = &["https", "http", "ssh", "git", "file"];

/// What tokens begin with that people put where a user's name belongs.
const TOKEN_PREFIXES: &[&str] = &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"];

/// Longer than this it is no user's name.
const MAX_USER_NAME_BYTES: usize = 31;

/// An address that holds no secret, and the secrets that were in it.
pub(super) struct Address {
    pub(super) url: String,
    /// The server, where it can be told a token.
    origin: Option<Origin>,
    user: Option<String>,
    secret: Credential,
}

/// The secret that an address held.
enum Credential {
    None,
    Token(Secret),
    /// One that can't be handed over: ssh takes no password from us.
    Dropped,
}

/// What is answered to a server that asks who we are.
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) token: Secret,
    /// The one server that is told.
    pub(crate) origin: Origin,
    /// The program that `git` asks.
    pub(crate) askpass: PathBuf,
}

impl Address {
    /// Takes an address as it stands in the configuration. What is wrong with it is said without repeating it.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('-') || text.contains(char::is_control) {
            return Err(wrong("is empty, begins with '-' or has a control character"));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            // `ext::` and the like run programs.
            let start = text.split(['/', '[']).next().unwrap_or_default();
            return if start.contains("::") { Err(wrong(NOT_ALLOWED)) } else { Ok(Self::plain(text)) };
        };
        let scheme = scheme.to_ascii_lowercase();
        if !PROTOCOLS.contains(&scheme.as_str()) {
            return Err(wrong(NOT_ALLOWED));
        }
        if scheme == "file" {
            return Ok(Self::plain(text));
        }
        let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = server.rsplit_once('@').map_or((None, server), |(user, host)| (Some(user), host));
        if !is_host(host) || text.contains(char::is_whitespace) {
            return Err(wrong(
                "has no server's name where it belongs; write '/', '@', ':' and spaces in a password percent-encoded",
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

    /// Takes what stands before the `@` of a web address out, unless it is only a name.
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
            // The helpers of the machine have to know whose password they are asked for.
            "" => return Ok(Self { origin, user: Some(name), ..Self::plain(text) }),
            _ => (Some(name).filter(|name| !name.is_empty()), password),
        };
        let secret = Secret::new(&secret).map_err(|invalid| Error::Settings(invalid.to_string()))?;
        Ok(Self { url: clean, origin, user, secret: Credential::Token(secret) })
    }

    /// Whether it held a secret.
    pub(super) fn had_secret(&self) -> bool {
        match self.secret {
            Credential::None => false,
            Credential::Token(_) | Credential::Dropped => true,
        }
    }

    /// What to answer the server: the token that was configured, or else the secret that was in the address. A
    /// token is for the web; other protocols have no place for it.
    pub(super) fn login(self, token: Option<Secret>, askpass: PathBuf) -> Option<Login> {
        let token = token.or(match self.secret {
            Credential::Token(secret) => Some(secret),
            Credential::None | Credential::Dropped => None,
        })?;
        let user = self.user.unwrap_or_else(|| ANY_USER.to_owned());
        Some(Login { user, token, origin: self.origin?, askpass })
    }
}

const NOT_ALLOWED: &str = "has a protocol that is not allowed; use https, http, ssh, git or file";

fn wrong(what: &str) -> Error {
    Error::Settings(format!("the address of the repository {what}"))
}

/// Whether a text is a server's name or address, with or without a port.
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
