//! What git wrote, and what it means.

use std::fmt;

use lyceum_net::Secret;

/// What our own answer to a question of git says when another server asks for the token.
pub(crate) const NOT_FOR_THIS_SERVER: &str = "the token is not for";

/// What git wrote, without credentials and control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitMessage(String);

/// Why git failed, as far as its words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The server wants to know who asks, or the token is not good.
    Denied,
    /// The server answered from another address, which the token is not for.
    Elsewhere,
    /// There is no such repository, or none that may be seen.
    NotFound,
    /// There is no such branch.
    Branch,
    /// The name of the server is not known.
    Host,
    /// The server does not answer, or the connection broke off.
    Unreachable,
    /// The server answered with an error of its own, or with "later".
    Server,
    /// The certificate of the server is not trusted.
    Certificate,
    /// The ssh key of the server is not known.
    HostKey,
    /// Files of another user, which git does not trust.
    Ownership,
    /// The disk is full.
    DiskFull,
    /// The protocol is not one of those that are allowed.
    Protocol,
    /// Something else; git's own words say more.
    Other,
}

/// Words of git and what they mean; the first that is found counts.
const WORDS: &[(&str, Fault)] = &[
    (NOT_FOR_THIS_SERVER, Fault::Elsewhere),
    ("couldn't find remote ref", Fault::Branch),
    ("could not find remote branch", Fault::Branch),
    ("not found in upstream", Fault::Branch),
    ("could not resolve host", Fault::Host),
    ("name or service not known", Fault::Host),
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
    /// What happened and what to do.
    pub(crate) fn advice(self, branch: &str) -> String {
        let advice = match self {
            Self::Denied => {
                "the server did not let us in; check the token, or that git on this machine can fetch the \
                 repository without asking"
            }
            Self::Elsewhere => {
                "the repository moved to another server, which the token is not sent to; configure its new address"
            }
            Self::NotFound => {
                "the repository was not found; check its address and, if it is private, that the token may read it"
            }
            Self::Branch => {
                return format!(
                    "the repository has no branch {branch:?}; push it, or configure another branch"
                );
            }
            Self::Host => "the server's name could not be resolved; check the address and the network",
            Self::Unreachable => {
                "the server could not be reached, or the connection broke off; try again later"
            }
            Self::Server => "the server answered with an error of its own; try again later",
            Self::Certificate => {
                "the server's certificate is not trusted; check the address, or add its authority to git's \
                 http.sslCAInfo"
            }
            Self::HostKey => {
                "the server's ssh key is not known; connect to it once with ssh, or add it to known_hosts"
            }
            Self::Ownership => {
                "the repository belongs to another user of this machine; add it to git's safe.directory"
            }
            Self::DiskFull => "the disk is full; make room",
            Self::Protocol => {
                "the address has a protocol that is not allowed; use https, http, ssh, git or file"
            }
            Self::Other => "git failed; its words are in the log",
        };
        advice.to_owned()
    }
}

impl GitMessage {
    /// Cleans what was written.
    pub(super) fn new(written: &[u8], token: Option<&Secret>) -> Self {
        let mut text = String::from_utf8_lossy(written).replace('\r', "\n");
        text.retain(|c| c == '\n' || !c.is_control());
        if let Some(token) = token {
            text = text.replace(token.reveal(), "…");
        }
        Self(without_credentials(text.trim()))
    }

    /// What the words mean.
    pub(super) fn fault(&self) -> Fault {
        let words = self.0.to_lowercase();
        WORDS.iter().find(|(part, _)| words.contains(part)).map_or(Fault::Other, |(_, fault)| *fault)
    }

    /// Where the server sent us on to, if it did.
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

/// Takes `user:password@` out of every URL in a text.
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
