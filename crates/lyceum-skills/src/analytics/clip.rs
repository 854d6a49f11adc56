//! Truncates texts in events, so that the largest event still fits into a batch.
//!
//! Truncated texts end with `…`. JSON escapes can expand one byte to six; the limits keep a line under 80 KiB even
//! then.

use serde::{Serialize, Serializer, ser::SerializeSeq};

/// Maximum length of free text.
const MAX_TEXT_BYTES: usize = 4096;

/// Maximum length of a path or name.
const MAX_NAME_BYTES: usize = 1024;

/// Maximum number of list entries, and length of each.
const MAX_ENTRIES: usize = 32;
const MAX_ENTRY_BYTES: usize = 192;

pub(super) fn text<S: Serializer>(text: &str, out: S) -> Result<S::Ok, S::Error> {
    clipped(text, MAX_TEXT_BYTES, out)
}

#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
pub(super) fn optional_text<S: Serializer>(text: &Option<String>, out: S) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => clipped(text, MAX_TEXT_BYTES, out),
        None => out.serialize_none(),
    }
}

pub(super) fn name<S: Serializer>(name: &str, out: S) -> Result<S::Ok, S::Error> {
    clipped(name, MAX_NAME_BYTES, out)
}

pub(super) fn list<S: Serializer>(list: &[String], out: S) -> Result<S::Ok, S::Error> {
    struct Entry<'a>(&'a str);
    impl Serialize for Entry<'_> {
        fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
            clipped(self.0, MAX_ENTRY_BYTES, out)
        }
    }
    let mut entries = out.serialize_seq(None)?;
    for entry in list.iter().take(MAX_ENTRIES) {
        entries.serialize_element(&Entry(entry))?;
    }
    if list.len() > MAX_ENTRIES {
        entries.serialize_element("…")?;
    }
    entries.end()
}

fn clipped<S: Serializer>(text: &str, max_bytes: usize, out: S) -> Result<S::Ok, S::Error> {
    if text.len() <= max_bytes {
        return out.serialize_str(text);
    }
    let end = text.floor_char_boundary(max_bytes);
    out.collect_str(&format_args!("{}…", text.get(..end).unwrap_or_default()))
}
