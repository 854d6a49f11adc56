//! Texts of callers have no end; those in an event do, so that the longest event still fits into a batch.
//!
//! What is clipped ends with `…`. JSON can make six bytes of one: the limits below keep a line under 80 KiB even then.

use serde::{Serialize, Serializer, ser::SerializeSeq};

/// Bytes of what people write.
const MAX_TEXT_BYTES: usize = 4096;

/// Bytes of a path or a name.
const NAME: usize = 1024;

/// Entries of a list, and bytes of each.
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
    clipped(name, NAME, out)
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

fn clipped<S: Serializer>(text: &str, most: usize, out: S) -> Result<S::Ok, S::Error> {
    if text.len() <= most {
        return out.serialize_str(text);
    }
    let end = text.floor_char_boundary(most);
    out.collect_str(&format_args!("{}…", text.get(..end).unwrap_or_default()))
}
