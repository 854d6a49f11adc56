//! Edits of a client's configuration, in its text: everything else in the file keeps its bytes, comments included.

mod jsonc;
mod toml;

use serde_json::Value;

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, with comments and trailing commas where a client allows them.
    Jsonc,
    /// TOML.
    Toml,
}

/// The fields of an entry, in the order in which they are written.
pub(super) type Entry = Vec<(&'static str, Value)>;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slot {
    /// A member of the object at this path.
    Member {
        /// Keys from the top level to the object.
        path: &'static [&'static str],
        /// The key of the member.
        name: String,
    },
    /// An element of an array at the top level, recognised by its field `id`.
    Element {
        /// The key of the array.
        array: &'static str,
        /// The id of the element.
        id: String,
    },
}

/// A value for a place in a file.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    /// The place.
    pub(super) slot: Slot,
    /// The value.
    pub(super) entry: Entry,
}

/// Why a text can't be edited.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub(super) struct SyntaxError {
    /// The line, from 1.
    pub(super) line: usize,
    /// What is wrong there.
    pub(super) message: String,
}

impl Slot {
    /// The keys from the top level to the place.
    fn keys(&self) -> impl Iterator<Item = &str> {
        let (path, last) = match self {
            Self::Member { path, name } => (*path, name.as_str()),
            Self::Element { array, id } => (std::slice::from_ref(array), id.as_str()),
        };
        path.iter().copied().chain([last])
    }
}

impl Format {
    /// The value in a place, if there is one.
    pub(super) fn get(self, text: &str, slot: &Slot) -> Result<Option<Value>, SyntaxError> {
        match self {
            Self::Jsonc => jsonc::get(text, slot),
            Self::Toml => toml::get(text, slot),
        }
    }

    /// The text with these values in their places.
    pub(super) fn apply(self, text: &str, edits: &[Edit]) -> Result<String, SyntaxError> {
        edits.iter().try_fold(text.to_owned(), |text, edit| match self {
            Self::Jsonc => jsonc::set(&text, &edit.slot, &edit.entry),
            Self::Toml => toml::set(&text, &edit.slot, &edit.entry),
        })
    }

    /// The text without what is in these places.
    pub(super) fn remove(self, text: &str, slots: &[Slot]) -> Result<String, SyntaxError> {
        slots.iter().try_fold(text.to_owned(), |text, slot| match self {
            Self::Jsonc => jsonc::remove(&text, slot),
            Self::Toml => toml::remove(&text, slot),
        })
    }

    /// `before` with what `after` has in these places: equal to `after` if they differ in nothing else.
    pub(super) fn transplant(self, before: &str, after: &str, slots: &[Slot]) -> Result<String, SyntaxError> {
        slots.iter().try_fold(before.to_owned(), |text, slot| match self {
            Self::Jsonc => jsonc::transplant(&text, after, slot),
            Self::Toml => toml::transplant(&text, after, slot),
        })
    }
}

/// Whether a value is what an entry says.
pub(super) fn is_same(value: &Value, entry: &Entry) -> bool {
    let fields = entry.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    *value == Value::Object(fields.collect())
}

#[cfg(test)]
mod tests;
