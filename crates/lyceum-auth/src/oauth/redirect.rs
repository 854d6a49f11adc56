//! Addresses that a code may be sent to.
//!
//! Two addresses are the same if their bytes are; nothing is normalised, so nothing can be made to look alike. Only the
//! port of a loopback address may differ, for a program on a person's machine takes whichever is free (RFC 8252).

use serde::{Deserialize, Serialize};

/// The longest address that is taken.
const MAX_URI_BYTES: usize = 1024;

/// Schemes of programs that sign in so, beside those that are named after a domain (`org.example.app`), as RFC 8252 asks.
/// Whatever else a machine opens by a scheme is not made to be sent anything by us.
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

/// The names of this very machine that a program may listen on.
const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// An address that a client may register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Redirect(String);

/// Why an address can't be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedirectFault {
    /// It is longer than is taken.
    #[error("a redirect URI has at most 1024 characters")]
    TooLong,
    /// It is not an absolute address.
    #[error("a redirect URI must be absolute, such as https://app.example.org/callback")]
    NotAbsolute,
    /// It has something that no redirect address may have.
    #[error("a redirect URI must not have a fragment, user info, a space or a backslash")]
    Unsafe,
    /// Its scheme is not one that programs sign in by.
    #[error(
        "a redirect URI must be https, http on loopback, or of a scheme named after a domain, such as org.example.app:/callback"
    )]
    Scheme,
    /// It is plain http to another machine.
    #[error("plain http is allowed on loopback only (127.0.0.1, [::1], localhost); use https")]
    Plain,
}

/// An address in its parts, as they are written.
struct Parts<'a> {
    scheme: &'a str,
    host: &'a str,
    port: Option<&'a str>,
    rest: &'a str,
}

impl Redirect {
    /// Takes an address that a code may be sent to, as it is.
    pub fn parse(text: &str) -> Result<Self, RedirectFault> {
        if text.len() > MAX_URI_BYTES {
            return Err(RedirectFault::TooLong);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains(['#', '\\', '"', '<', '>']) {
            return Err(RedirectFault::Unsafe);
        }
        let parts = Parts::of(text).ok_or(RedirectFault::NotAbsolute)?;
        // A page's policy names the host; so there is nothing in it that could be read otherwise there.
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
        if !parts.host.bytes().all(is_host) || !parts.has_good_port() {
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

    /// Whether a request may name that address, having registered this one.
    pub fn allows(&self, requested: &str) -> bool {
        if self.0 == requested {
            return true;
        }
        let (Some(registered), Some(requested)) = (Parts::of(&self.0), Parts::of(requested)) else {
            return false;
        };
        registered.is_loopback()
            && requested.has_good_port()
            && (registered.scheme, registered.host, registered.rest)
                == (requested.scheme, requested.host, requested.rest)
    }

    /// Whether a code goes to a program on the person's own machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    /// The address as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where an address leads, as a person should see it: the host, or the scheme of another program.
pub(crate) fn shown_host(address: &str) -> &str {
    let Some(parts) = Parts::of(address) else { return address };
    let is_web = matches!(parts.scheme.to_ascii_lowercase().as_str(), "http" | "https");
    if is_web && !parts.host.is_empty() { parts.host } else { parts.scheme }
}

/// Whether an address leads to a program on the person's own machine.
pub(crate) fn is_loopback(address: &str) -> bool {
    Parts::of(address).is_some_and(|parts| parts.is_loopback())
}

/// The origin of an address; the scheme alone where it leads to another program.
pub(crate) fn origin(address: &str) -> String {
    match Parts::of(address) {
        // A policy can't name an IPv6 address, only its whole scheme.
        Some(Parts { scheme: scheme @ ("http" | "https"), host, port, .. }) if !host.starts_with('[') => {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            format!("{scheme}://{host}{port}")
        }
        Some(Parts { scheme, .. }) => format!("{scheme}:"),
        None => String::new(),
    }
}

impl<'a> Parts<'a> {
    /// `scheme://host:port/rest`, or `scheme:/rest` of another program.
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

    fn has_good_port(&self) -> bool {
        let is_good =
            |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse() != Ok(0_u16);
        self.port.is_none_or(|port| is_good(port) && port.parse::<u16>().is_ok())
    }

    fn is_loopback(&self) -> bool {
        self.scheme == "http" && LOOPBACK_HOSTS.contains(&self.host)
    }
}
