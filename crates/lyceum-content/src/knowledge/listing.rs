//! Groups and releases of documents.

use std::{collections::BTreeMap, sync::Arc};

use super::{Catalog, Entry};

/// A group or cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<'a> {
    /// The value of the documents' `group` field.
    pub slug: String,
    /// The document about the group, if any.
    pub entry: Option<&'a Arc<Entry>>,
    /// Number of documents in the group.
    pub documents: usize,
}

/// A release.
#[derive(Debug, Clone, PartialEq)]
pub struct Release<'a> {
    /// The value of the documents' `release` field.
    pub slug: &'a str,
    /// Its documents, newest first.
    pub entries: Vec<&'a Arc<Entry>>,
}

/// Lists all groups: those with a document of their own, and those named in `group` fields.
pub fn groups(catalog: &Catalog) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<String, Group<'_>> = BTreeMap::new();
    for entry in catalog.entries().iter().filter(|entry| entry.summary.content_type == "group") {
        let slug = entry.summary.id.clone();
        groups.insert(slug.clone(), Group { slug, entry: Some(entry), documents: 0 });
    }
    for name in catalog.entries().iter().filter_map(|entry| entry.summary.group.as_deref()) {
        let group = groups.entry(name.to_owned());
        group.or_insert_with(|| Group { slug: name.to_owned(), entry: None, documents: 0 }).documents += 1;
    }
    groups.into_values().collect()
}

/// Lists all releases named in `release` fields, the one with the newest document first.
pub fn releases(catalog: &Catalog) -> Vec<Release<'_>> {
    let mut releases: Vec<Release<'_>> = Vec::new();
    let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in catalog.entries() {
        let Some(slug) = entry.summary.release.as_deref() else { continue };
        let position = *positions.entry(slug).or_insert_with(|| {
            releases.push(Release { slug, entries: Vec::new() });
            releases.len() - 1
        });
        if let Some(release) = releases.get_mut(position) {
            release.entries.push(entry);
        }
    }
    releases
}
