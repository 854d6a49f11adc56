//! The catalog of a knowledge base: an immutable snapshot of its entries.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use super::Entry;
use crate::ontology::Ontology;

/// All entries, sorted by date (newest first), then by path.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    entries: Vec<Arc<Entry>>,
    positions: HashMap<String, usize>,
}

/// A filter over entries. Unset fields match everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// A content type, including the types that extend it.
    pub content_type: Option<String>,
    /// A group.
    pub group: Option<String>,
    /// A release.
    pub release: Option<String>,
    /// A status.
    pub status: Option<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
}

/// One page of filtered entries.
#[derive(Debug)]
pub struct EntryPage<'a> {
    /// The entries of the page.
    pub entries: Vec<&'a Arc<Entry>>,
    /// Number of matching entries in total.
    pub total: usize,
}

impl Catalog {
    /// Sorts and indexes the entries.
    pub fn new(entries: impl IntoIterator<Item = Arc<Entry>>) -> Self {
        let mut entries: Vec<Arc<Entry>> = entries.into_iter().collect();
        entries
            .sort_by(|a, b| (Reverse(a.moment), &a.summary.path).cmp(&(Reverse(b.moment), &b.summary.path)));
        let positions = entries.iter().enumerate().map(|(position, entry)| (entry.key(), position)).collect();
        Self { entries, positions }
    }

    /// All entries, newest first.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Finds an entry by type and id.
    pub fn get(&self, content_type: &str, id: &str) -> Option<&Arc<Entry>> {
        let position = self.positions.get(&format!("{content_type}/{id}"))?;
        self.entries.get(*position)
    }

    /// Returns up to `limit` matching entries, starting at `offset`.
    pub fn find(&self, ontology: &Ontology, filter: &Filter, offset: usize, limit: usize) -> EntryPage<'_> {
        if *filter == Filter::default() {
            let entries = self.entries.iter().skip(offset).take(limit).collect();
            return EntryPage { entries, total: self.entries.len() };
        }
        let types: Option<Vec<&str>> = filter
            .content_type
            .as_ref()
            .map(|wanted| ontology.with_children(wanted).map(|one| one.name.as_str()).collect());
        let matches = |entry: &&Arc<Entry>| {
            let one = &entry.summary;
            let same = |wanted: &Option<String>, is: &Option<String>| wanted.is_none() || wanted == is;
            types.as_ref().is_none_or(|types| types.contains(&one.content_type.as_str()))
                && same(&filter.group, &one.group)
                && same(&filter.release, &one.release)
                && same(&filter.status, &one.status)
                && (filter.tags.is_empty() || filter.tags.iter().any(|tag| one.tags.contains(tag)))
        };
        let mut entries = Vec::new();
        let mut total = 0;
        for entry in self.entries.iter().filter(matches) {
            if total >= offset && entries.len() < limit {
                entries.push(entry);
            }
            total += 1;
        }
        EntryPage { entries, total }
    }
}
