//! Ids, short forms, the catalog and the lexicon.

mod catalog;
mod excerpts;
mod ids;
mod lexicon;
mod plain_texts;
mod titles;

use std::sync::Arc;

use jiff::Timestamp;
use lyceum_model::RelPath;
use serde_json::Value;

use super::{Catalog, Entry, EntryParts};

/// An entry of a path such as `pattern/cells`, with some fields.
fn entry(key: &str, title: &str, fields: Value) -> Arc<Entry> {
    let (content_type, id) = key.split_once('/').unwrap();
    let Value::Object(metadata) = fields else { panic!("not fields") };
    Arc::new(Entry::new(EntryParts {
        id: id.to_owned(),
        content_type: content_type.to_owned(),
        path: RelPath::parse(&format!("{key}.md")).unwrap(),
        title: title.to_owned(),
        excerpt: format!("About {title}."),
        metadata,
        version: "c0ffee".to_owned(),
        synced_at: Timestamp::UNIX_EPOCH,
        url: None,
        hash: format!("hash of {key}"),
        first_line: 1,
    }))
}

fn ids<'a>(entries: impl IntoIterator<Item = &'a Arc<Entry>>) -> Vec<&'a str> {
    entries.into_iter().map(|entry| entry.summary.id.as_str()).collect()
}

fn catalog(entries: &[Arc<Entry>]) -> Catalog {
    Catalog::new(entries.iter().cloned())
}
