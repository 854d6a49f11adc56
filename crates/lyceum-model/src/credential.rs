//! The credential that a caller acts with elsewhere.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A secret of the caller's, such as their GitHub token, to act on their behalf during their request.
///
/// It lives in the request only: it has no `Display` and no serialization, `Debug` redacts it, and its memory is
/// zeroized on drop.
#[derive(Clone)]
pub struct Credential(SecretString);

impl Credential {
    /// Wraps a secret.
    pub fn new(secret: String) -> Self {
        Self(secret.into())
    }

    /// Exposes the secret.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

/// For comparing callers; not constant-time. Never compare input with it to authenticate anyone.
impl PartialEq for Credential {
    fn eq(&self, other: &Self) -> bool {
        self.reveal() == other.reveal()
    }
}

impl Eq for Credential {}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(…)")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Caller, Credential, MCP_READ, Tier};

    #[test]
    fn a_caller_is_printed_without_the_credential() {
        let caller = Caller::known("github:1", Tier::Member, [MCP_READ]);
        let caller = caller.acting_with(Credential::new("ghp_canary".to_owned()));
        assert_eq!(caller.credential().map(Credential::reveal), Some("ghp_canary"));
        assert!(!format!("{caller:?}").contains("canary"), "{caller:?}");
    }
}
