//! Ids of documents: a slug of the file name, made unique over the whole tree.
//!
//! Invariants: an id is 1 to 64 of `a-z 0-9 - _ .`, unique within its type, and depends on the tree alone, not on its
//! history. If documents share a slug, the first path gets it; the others append a hash of their path.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_model::RelPath;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// Maximum length of an id.
pub const MAX_ID_BYTES: usize = 64;

/// Number of hash digits to append; more if that id is taken too.
const HASH_DIGITS: usize = 8;

/// The id of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedId {
    /// The id.
    pub id: String,
    /// Whether it is the slug without a hash.
    pub is_plain: bool,
}

/// Assigns ids to all documents of a tree, given as paths with content types.
pub fn assign<'a>(
    documents: impl IntoIterator<Item = (&'a RelPath, &'a str)>,
) -> BTreeMap<&'a RelPath, AssignedId> {
    let sorted: BTreeMap<&RelPath, &str> = documents.into_iter().collect();
    let mut taken: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut ids = BTreeMap::new();
    let mut others = Vec::new();
    for (path, content_type) in sorted {
        let slug = slug(path);
        if !slug.is_empty() && slug.len() <= MAX_ID_BYTES && taken.insert((content_type, slug.clone())) {
            ids.insert(path, AssignedId { id: slug, is_plain: true });
        } else {
            others.push((path, content_type, slug));
        }
    }
    for (path, content_type, slug) in others {
        let hash = hex(path);
        let candidates =
            (HASH_DIGITS..=hash.len()).map(|digits| with_hash(&slug, hash.get(..digits).unwrap_or(&hash)));
        for id in candidates {
            if taken.insert((content_type, id.clone())) {
                ids.insert(path, AssignedId { id, is_plain: false });
                break;
            }
        }
    }
    ids
}

/// URL-safe slug of a file name: lower case, accents stripped, anything else replaced by `-`.
fn slug(path: &RelPath) -> String {
    let name = path.name();
    let stem = name.strip_suffix(path.extension()).unwrap_or(name);
    let mut slug = String::with_capacity(stem.len());
    for c in stem.nfkd().filter(|c| !unicode_normalization::char::is_combining_mark(*c)) {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9' | '_' | '.') => slug.push(c),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_matches(['-', '.']).to_owned()
}

fn with_hash(slug: &str, hash: &str) -> String {
    let room = MAX_ID_BYTES.saturating_sub(hash.len() + 1);
    let prefix: String = slug.chars().take(room).collect();
    match prefix.trim_end_matches(['-', '.']) {
        "" => hash.chars().take(MAX_ID_BYTES).collect(),
        prefix => format!("{prefix}-{hash}"),
    }
}

fn hex(path: &RelPath) -> String {
    const_hex::encode(Sha256::digest(path.as_str().as_bytes()))
}
