//! Names under which an upstream's tools and prompts are offered.

use std::fmt::Write;

use lyceum_tools::Prefix;
use sha2::{Digest, Sha256};

/// Maximum length of a name with its prefix: clients add a prefix of their own, and some refuse more than 64 characters.
const MAX_CHARS: usize = 45;

/// Length of the hash that replaces the end of a name.
const HASH_CHARS: usize = 8;

/// The name that clients see: the prefix and the upstream's name. A name that is too long, or has characters that not every
/// client can send, is shortened and ends with a hash of the whole name, so that it stays unique and never changes.
pub(crate) fn offered_name(prefix: &Prefix, name: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let whole = prefix.of(name);
    if !name.is_empty() && whole.len() <= MAX_CHARS && whole.chars().all(is_allowed) {
        return whole;
    }
    let kept = whole.chars().map(|c| if is_allowed(c) { c } else { '_' });
    let mut short: String = kept.take(MAX_CHARS - HASH_CHARS - 1).collect();
    short.push('_');
    for byte in Sha256::digest(name.as_bytes()).iter().take(HASH_CHARS / 2) {
        // Writing to a string can't fail.
        let _written = write!(short, "{byte:02x}");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        let offered = offered_name(&Prefix::parse("docs_").unwrap(), name);
        assert_eq!(offered, expected, "{name:?}");
        assert!(offered.len() <= MAX_CHARS, "{offered:?}");
    }

    #[test]
    fn names_fit_every_client_and_stay_apart() {
        check("search", "docs_search");
        check(&"x".repeat(40), &format!("docs_{}", "x".repeat(40)));
        check(&"x".repeat(41), "docs_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_3164596d");
        check(&"x".repeat(42), "docs_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_2b2573d5");
        check("über/all", "docs__ber_all_9d7cd9de");
        check("", "docs__e3b0c442");
    }
}
