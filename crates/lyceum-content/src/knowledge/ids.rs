//! Ids of documents, unique over the whole tree.
//!
//! Invariants: an id is 1 to 64 of `a-z 0-9 - _ .`, or such parts separated by `/`, up to 200 bytes in all; it is unique
//! within its type and depends on the tree alone, not on its history. If documents share a slug, the first path gets it;
//! the others append a hash of their path.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_model::RelPath;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use super::title::document_stem;

/// Maximum length of an id by file name.
pub const MAX_ID_BYTES: usize = 64;

/// Maximum length of an id by path. Object stores and file systems have room for it.
pub const MAX_PATH_ID_BYTES: usize = 200;

/// Number of hash digits to append; more if that id is taken too.
const HASH_DIGITS: usize = 8;

/// What an id is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRule {
    /// The file name, for documents with a type: `cell-governance`.
    FileName,
    /// The path, for plain documents: `en/settings`.
    Path,
}

/// A document that needs an id.
#[derive(Debug, Clone, Copy)]
pub struct IdRequest<'a> {
    /// Its file.
    pub path: &'a RelPath,
    /// Its type.
    pub content_type: &'a str,
    /// What its id is made of.
    pub rule: IdRule,
}

/// The id of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedId {
    /// The id.
    pub id: String,
    /// Whether it is the slug without a hash.
    pub is_plain: bool,
}

impl IdRule {
    fn max_bytes(self) -> usize {
        match self {
            Self::FileName => MAX_ID_BYTES,
            Self::Path => MAX_PATH_ID_BYTES,
        }
    }

    /// The slug of a path. Its last part is empty if the file name has nothing for a URL.
    fn slug(self, path: &RelPath) -> String {
        let name = path.name();
        match self {
            Self::FileName => slug(name.strip_suffix(path.extension()).unwrap_or(name)),
            Self::Path => path_slug(path.as_str()),
        }
    }
}

/// Assigns ids to all documents of a tree.
pub fn assign<'a>(documents: impl IntoIterator<Item = IdRequest<'a>>) -> BTreeMap<&'a RelPath, AssignedId> {
    let sorted: BTreeMap<&RelPath, IdRequest<'_>> =
        documents.into_iter().map(|one| (one.path, one)).collect();
    let mut taken: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut ids = BTreeMap::new();
    let mut others = Vec::new();
    for (path, request) in sorted {
        let slug = request.rule.slug(path);
        let is_whole = !slug.is_empty() && !slug.ends_with('/') && slug.len() <= request.rule.max_bytes();
        if is_whole && taken.insert((request.content_type, slug.clone())) {
            ids.insert(path, AssignedId { id: slug, is_plain: true });
        } else {
            others.push((request, slug));
        }
    }
    for (request, slug) in others {
        let hash = hex(request.path);
        let max_bytes = request.rule.max_bytes();
        let candidates = (HASH_DIGITS..=hash.len())
            .map(|digits| with_hash(&slug, hash.get(..digits).unwrap_or(&hash), max_bytes));
        for id in candidates {
            if taken.insert((request.content_type, id.clone())) {
                ids.insert(request.path, AssignedId { id, is_plain: false });
                break;
            }
        }
    }
    ids
}

/// Slug of a path without extensions. An `index` has the id of its folder.
fn path_slug(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = document_stem(name);
    let mut parts: Vec<String> = folder.split('/').map(slug).filter(|part| !part.is_empty()).collect();
    let is_index = ["index", "_index"].iter().any(|index| stem.eq_ignore_ascii_case(index));
    if !is_index || parts.is_empty() {
        parts.push(slug(stem));
    }
    parts.join("/")
}

/// URL-safe slug of a name: lower case, accents stripped, anything else replaced by `-`.
pub fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.nfkd().filter(|c| !unicode_normalization::char::is_combining_mark(*c)) {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9' | '_' | '.') => slug.push(c),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_matches(['-', '.']).to_owned()
}

fn with_hash(slug: &str, hash: &str, max_bytes: usize) -> String {
    let room = max_bytes.saturating_sub(hash.len() + 1);
    let prefix: String = slug.chars().take(room).collect();
    match prefix.trim_end_matches(['-', '.']) {
        "" => hash.chars().take(max_bytes).collect(),
        // Only the folder has something for a URL.
        prefix if prefix.ends_with('/') => format!("{prefix}{hash}"),
        prefix => format!("{prefix}-{hash}"),
    }
}

fn hex(path: &RelPath) -> String {
    const_hex::encode(Sha256::digest(path.as_str().as_bytes()))
}
