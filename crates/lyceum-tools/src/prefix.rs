//! What stands before the names of a service's tools and prompts, so that two services can be offered side by side.

/// A prefix such as `docs_`; empty where the names stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix(String);

/// Why a text can't be a prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} can't stand before the names of tools; write up to {max} of A-Z, a-z, 0-9, '_', '-' and '.', such as \"docs_\"",
    max = Prefix::MAX_CHARS
)]
pub struct InvalidPrefix(String);

impl Prefix {
    /// The longest prefix: clients cut long names, and our own names take the rest.
    pub const MAX_CHARS: usize = 24;

    /// Parses what an operator wrote.
    pub fn parse(text: &str) -> Result<Self, InvalidPrefix> {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        if text.len() > Self::MAX_CHARS || !text.bytes().all(is_allowed) {
            return Err(InvalidPrefix(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether names stay as they are.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A name with the prefix before it.
    pub fn of(&self, name: &str) -> String {
        format!("{}{name}", self.0)
    }

    /// A text with the prefix before each whole word that is one of those names.
    pub fn in_text<'a>(&self, text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
        let names: Vec<&str> = names.into_iter().collect();
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split_inclusive(|c| !is_of_name(c)).map(|piece| {
            let word = piece.trim_end_matches(|c| !is_of_name(c));
            let is_name = names.contains(&word);
            if is_name { self.of(piece) } else { piece.to_owned() }
        });
        words.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_mentions_of_them_get_the_prefix() {
        let prefix = Prefix::parse("docs_").unwrap();
        assert_eq!(prefix.of("find"), "docs_find");
        let text = prefix.in_text("First find, then `get_it`. refind find_all (find)", ["find", "get_it"]);
        assert_eq!(text, "First docs_find, then `docs_get_it`. refind find_all (docs_find)");
    }

    #[test]
    fn what_clients_could_not_send_is_no_prefix() {
        for wrong in ["a b", "ä_", "a/", &"a".repeat(25)] {
            let error = Prefix::parse(wrong).unwrap_err();
            assert!(error.to_string().contains("such as \"docs_\""), "{error}");
        }
        assert!(Prefix::parse("").unwrap().is_empty());
    }
}
