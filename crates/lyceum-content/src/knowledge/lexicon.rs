//! The lexicon: documents of the type `tag`, looked up by id, title or alias.

use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use super::{Catalog, Entry};

/// The type of the documents that define a term.
const TERM_TYPE: &str = "tag";

/// Finds a term by id, title or alias, ignoring case, accents and punctuation.
pub fn define<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a Arc<Entry>> {
    let wanted = folded(name);
    if wanted.is_empty() {
        return None;
    }
    let named = |entry: &Entry| [folded(&entry.summary.id), folded(&entry.summary.title)].contains(&wanted);
    let also = |entry: &Entry| entry.texts("aliases").iter().any(|alias| folded(alias) == wanted);
    terms(catalog).find(|entry| named(entry)).or_else(|| terms(catalog).find(|entry| also(entry)))
}

/// Searches the terms for a keyword; matches in names rank first.
pub fn search_terms<'a>(catalog: &'a Catalog, keyword: &str) -> Vec<&'a Arc<Entry>> {
    let wanted = folded(keyword);
    let rank = |entry: &Entry| {
        let title = folded(&entry.summary.title);
        let names = || entry.texts("aliases").iter().any(|alias| folded(alias).contains(&wanted));
        let says = || {
            [&entry.summary.description, &entry.excerpt].iter().any(|text| folded(text).contains(&wanted))
                || entry.texts("relatedTerms").iter().any(|term| folded(term).contains(&wanted))
        };
        match () {
            () if wanted.is_empty() => None,
            () if title == wanted => Some(0),
            () if title.starts_with(&wanted) => Some(1),
            () if title.contains(&wanted) || folded(&entry.summary.id).contains(&wanted) => Some(2),
            () if names() => Some(3),
            () if says() => Some(4),
            () => None,
        }
    };
    let mut found: Vec<(i32, &Arc<Entry>)> =
        terms(catalog).filter_map(|entry| Some((rank(entry)?, entry))).collect();
    found.sort_by(|(a, one), (b, other)| (a, &one.summary.title).cmp(&(b, &other.summary.title)));
    found.into_iter().map(|(_, entry)| entry).collect()
}

pub(super) fn terms(catalog: &Catalog) -> impl Iterator<Item = &Arc<Entry>> {
    catalog.entries().iter().filter(|entry| entry.summary.content_type == TERM_TYPE)
}

/// Normalizes a name for comparison: lower case, accents stripped, words separated by one space.
pub(super) fn folded(text: &str) -> String {
    let plain = text.nfkd().filter(|c| !unicode_normalization::char::is_combining_mark(*c));
    let lower: String = plain.flat_map(char::to_lowercase).collect();
    let words = lower.split(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '"' | '?' | '.'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
