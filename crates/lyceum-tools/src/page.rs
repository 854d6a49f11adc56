//! Pagination: a cursor names the last entry of a page, so it stays valid while the list changes.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

/// Maximum number of entries in a page.
const PAGE_SIZE: usize = 100;

/// The cursor is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cursor: invalid cursor; omit it to start at the first page")]
pub struct InvalidCursor;

/// One page of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries of this page.
    pub entries: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// Takes the page after `cursor`, from entries sorted by their keys.
    ///
    /// The cursor contains the name of the list. A list that depends on a parameter, such as a folder, must include it
    /// in the name.
    pub fn take<'a>(
        list: &str,
        entries: impl Iterator<Item = (&'a str, T)>,
        cursor: Option<&str>,
    ) -> Result<Self, InvalidCursor> {
        let after = cursor.map(|cursor| decode(list, cursor)).transpose()?;
        let mut rest =
            entries.skip_while(|(key, _)| after.as_deref().is_some_and(|after| *key <= after)).peekable();
        let mut page = Vec::new();
        let mut last = None;
        while page.len() < PAGE_SIZE
            && let Some((key, entry)) = rest.next()
        {
            last = Some(key);
            page.push(entry);
        }
        let next = if rest.peek().is_some() { last.map(|key| encode(list, key)) } else { None };
        Ok(Self { entries: page, next })
    }
}

/// Encodes `tools:search`. The name of the list is included, so that a cursor of another list is rejected.
fn encode(list: &str, key: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("{list}:{key}"))
}

fn decode(list: &str, cursor: &str) -> Result<String, InvalidCursor> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).map_err(|_| InvalidCursor)?;
    let text = String::from_utf8(bytes).map_err(|_| InvalidCursor)?;
    let key = text.strip_prefix(list).and_then(|rest| rest.strip_prefix(':'));
    key.map(str::to_owned).ok_or(InvalidCursor)
}
