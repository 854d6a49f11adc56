//! Redirect URIs.
//!
//! URIs are compared byte by byte, without normalization, so that none can pass for another. Only the port of a
//! loopback URI may differ, because native apps listen on any free port (RFC 8252).

use serde::{Deserialize, Serialize};

/// Maximum length of a redirect URI.
const MAX_URI_BYTES: usize = 1024;

/// Custom schemes of known native apps. Others must be named after a domain (`org.example.app`), as RFC 8252
/// requires: we don't redirect to arbitrary scheme handlers of a machine.
const APP_SCHEMES: [&str; 12] = [
    "claude",
    "cursor",
    "goose",
    "jetbrains",
    "kiro",
    "lmstudio",
    "raycast",
    "vscode",
    "vscode-insiders",
    "warp",
    "windsurf",
    "zed",
];

/// Loopback hosts.
const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// A redirect URI that may be registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Redirect(String);

/// Why a redirect URI is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedirectFault {
    /// It is too long.
    #[error("a redirect URI must have at most 1024 characters")]
    TooLong,
    /// It is not absolute.
    #[error("a redirect URI must be absolute, such as https://app.example.org/callback")]
    NotAbsolute,
    /// It contains something that no redirect URI may have.
    #[error("a redirect URI must not have a fragment, user info, a space or a backslash")]
    Unsafe,
    /// Its scheme is not allowed.
    #[error(
        "a redirect URI must be https, http on loopback, or of a scheme named after a domain, such as org.example.app:/callback"
    )]
    Scheme,
    /// It is plain http to another host.
    #[error("plain http is allowed on loopback only (127.0.0.1, [::1], localhost); use https")]
    Plain,
}

/// Parts of a URI, verbatim.
struct Parts<'a> {
    scheme: &'a str,
    host: &'a str,
    port: Option<&'a str>,
    rest: &'a str,
}

impl Redirect {
    /// Parses a redirect URI, without normalizing it.
    pub fn parse(text: &str) -> Result<Self, RedirectFault> {
        if text.len() > MAX_URI_BYTES {
            return Err(RedirectFault::TooLong);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains(['#', '\\', '"', '<', '>']) {
            return Err(RedirectFault::Unsafe);
        }
        let parts = Parts::of(text).ok_or(RedirectFault::NotAbsolute)?;
        // The host goes into the Content Security Policy of a page, so it must not contain anything with a meaning
        // there.
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
        if !parts.host.bytes().all(is_host) || !parts.has_valid_port() {
            return Err(RedirectFault::Unsafe);
        }
        let scheme = parts.scheme.to_ascii_lowercase();
        let (is_web, is_loopback) = (matches!(scheme.as_str(), "http" | "https"), parts.is_loopback());
        match scheme.as_str() {
            _ if is_web && parts.host.is_empty() => Err(RedirectFault::NotAbsolute),
            "http" if !is_loopback => Err(RedirectFault::Plain),
            scheme if is_web || scheme.contains('.') || APP_SCHEMES.contains(&scheme) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(RedirectFault::Scheme),
        }
    }

    /// Whether an authorization request may use `requested` if this URI is registered.
    pub fn allows(&self, requested: &str) -> bool {
        if self.0 == requested {
            return true;
        }
        let (Some(registered), Some(requested)) = (Parts::of(&self.0), Parts::of(requested)) else {
            return false;
        };
        registered.is_loopback()
            && requested.has_valid_port()
            && (registered.scheme, registered.host, registered.rest)
                == (requested.scheme, requested.host, requested.rest)
    }

    /// Whether it is a loopback URI.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    /// The URI as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What to show to the user: the host, or the scheme of a native app.
pub(crate) fn shown_host(uri: &str) -> &str {
    let Some(parts) = Parts::of(uri) else { return uri };
    let is_web = matches!(parts.scheme.to_ascii_lowercase().as_str(), "http" | "https");
    if is_web && !parts.host.is_empty() { parts.host } else { parts.scheme }
}

/// Whether a URI is a loopback URI.
pub(crate) fn is_loopback(uri: &str) -> bool {
    Parts::of(uri).is_some_and(|parts| parts.is_loopback())
}

/// Origin of a URI; only the scheme for a native app.
pub(crate) fn origin(uri: &str) -> String {
    match Parts::of(uri) {
        // A Content Security Policy can't contain an IPv6 address, only the scheme.
        Some(Parts { scheme: scheme @ ("http" | "https"), host, port, .. }) if !host.starts_with('[') => {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            format!("{scheme}://{host}{port}")
        }
        Some(Parts { scheme, .. }) => format!("{scheme}:"),
        None => String::new(),
    }
}

impl<'a> Parts<'a> {
    /// Splits `scheme://host:port/rest`, or `scheme:/rest` of a native app.
    fn of(text: &'a str) -> Option<Self> {
        let (scheme, after) = text.split_once(':')?;
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme {
            return None;
        }
        let Some(after) = after.strip_prefix("//") else {
            return (after.starts_with('/')).then_some(Self { scheme, host: "", port: None, rest: after });
        };
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, rest) = after.split_at_checked(end)?;
        let bracket = authority.rfind(']').map_or(0, |at| at + 1);
        let colon = authority.get(bracket..)?.find(':').map(|at| at + bracket);
        let (host, port) = match colon {
            None => (authority, None),
            Some(colon) => (authority.get(..colon)?, Some(authority.get(colon + 1..)?)),
        };
        Some(Self { scheme, host, port, rest })
    }

    fn has_valid_port(&self) -> bool {
        let is_valid =
            |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse() != Ok(0_u16);
        self.port.is_none_or(|port| is_valid(port) && port.parse::<u16>().is_ok())
    }

    fn is_loopback(&self) -> bool {
        self.scheme == "http" && LOOPBACK_HOSTS.contains(&self.host)
    }
}
