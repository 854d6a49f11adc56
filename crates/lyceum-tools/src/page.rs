//! Lists in pages: a cursor names the last entry seen, so that it stays good while the list changes.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

/// How many entries one page holds.
const PAGE_SIZE: usize = 100;

/// The cursor is not one of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cursor: invalid cursor; omit it to start at the first page")]
pub struct PageFault;

/// Some entries, and where to go on.
#[derive(Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries of this page.
    pub entries: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// Takes the page that follows `cursor` of a list, from entries in the order of their keys.
    ///
    /// The cursor holds the list's name: a list that depends on something, such as a folder, has that in its name.
    pub fn take<'a>(
        list: &str,
        entries: impl Iterator<Item = (&'a str, T)>,
        cursor: Option<&str>,
    ) -> Result<Self, PageFault> {
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

/// `tools:search`: the list is named, so that a cursor of another list or server is not taken for one of this.
fn encode(list: &str, key: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("{list}:{key}"))
}

fn decode(list: &str, cursor: &str) -> Result<String, PageFault> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).map_err(|_| PageFault)?;
    let text = String::from_utf8(bytes).map_err(|_| PageFault)?;
    let key = text.strip_prefix(list).and_then(|rest| rest.strip_prefix(':'));
    key.map(str::to_owned).ok_or(PageFault)
}
