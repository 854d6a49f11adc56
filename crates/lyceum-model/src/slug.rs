//! Short names that are safe in a URL, a header, a log field and a config key.
//!
//! Invariant: 1 to 64 of `a-z 0-9 - _ . :`, beginning with a letter. Holding one *is* the proof.

use std::{
    borrow::{Borrow, Cow},
    fmt,
};

use serde::Serialize;

/// Why a text is not a valid slug.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {kind}: write 1 to 64 of a-z, 0-9, '-', '_', '.' or ':', beginning with a letter")]
pub struct InvalidSlug {
    kind: &'static str,
    text: String,
}

const fn is_slug(text: &[u8]) -> bool {
    if text.is_empty() || text.len() > 64 {
        return false;
    }
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        let letter = byte.is_ascii_lowercase();
        let first = rest.len() == text.len();
        if !letter && (first || !(byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.' | b':'))) {
            return false;
        }
        rest = tail;
    }
    true
}

/// Defines a newtype over a slug. Distinct types can't be mixed up.
macro_rules! slug {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Cow<'static, str>);

        impl $name {
            /// Creates a slug from a literal; use it in a `const`, so that an invalid one doesn't compile.
            pub const fn from_static(text: &'static str) -> Self {
                assert!(is_slug(text.as_bytes()), "not a valid slug");
                Self(Cow::Borrowed(text))
            }

            /// Parses untrusted input.
            pub fn parse(text: &str) -> Result<Self, InvalidSlug> {
                if is_slug(text.as_bytes()) {
                    Ok(Self(Cow::Owned(text.to_owned())))
                } else {
                    Err(InvalidSlug { kind: $kind, text: text.chars().take(80).collect() })
                }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

slug! {
    /// The service or upstream that a tool belongs to, such as `skills`. Also the name in `/{service}/mcp`.
    Domain, "domain"
}
slug! {
    /// A permission that a caller may hold, such as `knowledge:read`.
    Scope, "scope"
}
slug! {
    /// The name of a source, such as `team-skills`.
    SourceName, "source name"
}
