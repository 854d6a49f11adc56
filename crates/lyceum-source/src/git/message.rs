//! Git's output: sanitized and classified.

use std::fmt;

use lyceum_net::Secret;

/// Start of our askpass error when another server requests the token.
pub(crate) const NOT_FOR_THIS_SERVER: &str = "the token is not for";

/// Git's stderr, without credentials and control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitMessage(String);

/// Why git failed, as far as its output tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Authentication failed.
    Denied,
    /// The server redirected to another server, which must not get the token.
    Redirected,
    /// The repository doesn't exist or isn't visible.
    NotFound,
    /// The branch doesn't exist.
    Branch,
    /// The host name can't be resolved.
    UnknownHost,
    /// The server can't be reached, or the connection was lost.
    Unreachable,
    /// The server returned a 5xx or 429.
    Server,
    /// The server's certificate is not trusted.
    Certificate,
    /// The server's ssh host key is unknown.
    HostKey,
    /// The repository belongs to another user ("dubious ownership").
    Ownership,
    /// The disk is full.
    DiskFull,
    /// The protocol is not allowed.
    Protocol,
    /// Anything else; see git's output.
    Other,
}

/// Patterns in git's output and their meaning; the first match wins.
const PATTERNS: &[(&str, Fault)] = &[
    (NOT_FOR_THIS_SERVER, Fault::Redirected),
    ("couldn't find remote ref", Fault::Branch),
    ("could not find remote branch", Fault::Branch),
    ("not found in upstream", Fault::Branch),
    ("could not resolve host", Fault::UnknownHost),
    ("name or service not known", Fault::UnknownHost),
    ("host key verification failed", Fault::HostKey),
    ("authentication failed", Fault::Denied),
    ("could not read username", Fault::Denied),
    ("could not read password", Fault::Denied),
    ("permission denied", Fault::Denied),
    ("returned error: 401", Fault::Denied),
    ("returned error: 403", Fault::Denied),
    ("certificate", Fault::Certificate),
    ("dubious ownership", Fault::Ownership),
    ("no space left on device", Fault::DiskFull),
    ("disk quota exceeded", Fault::DiskFull),
    ("' not allowed", Fault::Protocol),
    ("failed to connect", Fault::Unreachable),
    ("couldn't connect", Fault::Unreachable),
    ("connection refused", Fault::Unreachable),
    ("connection timed out", Fault::Unreachable),
    ("connection reset", Fault::Unreachable),
    ("no route to host", Fault::Unreachable),
    ("network is unreachable", Fault::Unreachable),
    ("operation too slow", Fault::Unreachable),
    ("empty reply", Fault::Unreachable),
    ("returned error: 5", Fault::Server),
    ("returned error: 429", Fault::Server),
    ("returned error: 404", Fault::NotFound),
    ("does not appear to be a git repository", Fault::NotFound),
    ("does not exist", Fault::NotFound),
    ("not found", Fault::NotFound),
    ("rpc failed", Fault::Unreachable),
    ("early eof", Fault::Unreachable),
    ("hung up", Fault::Unreachable),
];

impl Fault {
    /// The error message: what happened and what to do.
    pub(crate) fn advice(self, branch: &str) -> String {
        let advice = match self {
            Self::Denied => {
                "authentication failed; check the token, or that git on this machine can fetch the \
                         repository without a prompt"
            }
            Self::Redirected => {
                "the repository moved to another server, which does not get the token; configure the new URL"
            }
            Self::NotFound => {
                "the repository was not found; check its URL and, if it is private, that the token may read it"
            }
            Self::Branch => {
                return format!(
                    "the repository has no branch {branch:?}; push it, or configure another branch"
                );
            }
            Self::UnknownHost => "the host name could not be resolved; check the URL and the network",
            Self::Unreachable => {
                "the server could not be reached, or the connection was lost; try again later"
            }
            Self::Server => "the server returned an error; try again later",
            Self::Certificate => {
                "the server's certificate is not trusted; check the URL, or add its CA to git's \
                 http.sslCAInfo"
            }
            Self::HostKey => {
                "the server's ssh host key is unknown; connect to it once with ssh, or add it to known_hosts"
            }
            Self::Ownership => {
                "the repository belongs to another user of this machine; add it to git's safe.directory"
            }
            Self::DiskFull => "the disk is full; make room",
            Self::Protocol => "the URL has a protocol that is not allowed; use https, http, ssh, git or file",
            Self::Other => "git failed; see the log for its output",
        };
        advice.to_owned()
    }
}

impl GitMessage {
    /// Sanitizes git's stderr.
    pub(super) fn new(written: &[u8], token: Option<&Secret>) -> Self {
        let mut text = String::from_utf8_lossy(written).replace('\r', "\n");
        text.retain(|c| c == '\n' || !c.is_control());
        if let Some(token) = token {
            text = text.replace(token.reveal(), "…");
        }
        Self(without_credentials(text.trim()))
    }

    /// Classifies the output.
    pub(super) fn fault(&self) -> Fault {
        let text = self.0.to_lowercase();
        PATTERNS.iter().find(|(pattern, _)| text.contains(pattern)).map_or(Fault::Other, |(_, fault)| *fault)
    }

    /// The redirect target, if the server redirected.
    pub(crate) fn moved_to(&self) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix("warning: redirecting to "))
    }
}

impl fmt::Display for GitMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GitMessage {}

/// Removes `user:password@` from every URL in a text.
fn without_credentials(text: &str) -> String {
    let mut parts = text.split("://");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str("://");
        let end =
            part.find(|c: char| matches!(c, '/' | '\'' | '"') || c.is_whitespace()).unwrap_or(part.len());
        let (server, rest) = part.split_at(end);
        clean.push_str(server.rsplit_once('@').map_or(server, |(_, host)| host));
        clean.push_str(rest);
    }
    clean
}

#[cfg(test)]
mod tests;
