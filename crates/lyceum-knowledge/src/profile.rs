//! What a knowledge base holds, in a sentence for tool descriptions and instructions.

use lyceum_content::{
    coarse::{self, Labels},
    knowledge::{Catalog, Entry},
};

/// Maximum number of types, and of topics, to name.
const MAX_NAMED: usize = 5;

/// How many documents a topic has at least.
const MIN_DOCUMENTS: usize = 2;

/// What a knowledge base holds. It is coarse: a commit that changes a few documents rarely changes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Size, types and topics, as sentences; empty before the first sync.
    pub about: String,
    /// Number of terms in the lexicon, such as `at least 10 terms`.
    pub terms: String,
}

impl Profile {
    /// The profile of a catalog.
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let entries = catalog.entries();
        let (mut types, mut tags) = (Labels::default(), Labels::default());
        for entry in entries {
            types.count(&entry.summary.content_type);
            entry.summary.tags.iter().for_each(|tag| tags.count(tag));
        }
        let terms = entries.iter().filter(|entry| entry.summary.content_type == "tag").count();
        let mut about = format!("It holds {} documents", coarse::about(entries.len()));
        if types.len() > 1 {
            about = format!("{about} of the types {}", types.most_frequent(1, MAX_NAMED).join(", "));
        }
        about.push('.');
        let (tags, folders) = (tags.most_frequent(MIN_DOCUMENTS, MAX_NAMED), || folders(entries));
        let topics = match tags.len() {
            0 | 1 => Some(("Folders", folders())).filter(|(_, folders)| folders.len() > 1),
            _ => Some(("Topics", tags)),
        };
        if let Some((word, names)) = topics {
            about = format!("{about} {word}: {}.", names.join(", "));
        }
        Self { about, terms: format!("{} terms", coarse::about(terms)) }
    }
}

/// The most frequent folders, below the one that holds all documents.
fn folders(entries: &[std::sync::Arc<Entry>]) -> Vec<String> {
    let paths = || entries.iter().map(|entry| entry.summary.path.as_str());
    let mut common = paths().next().and_then(|path| path.rsplit_once('/')).map_or("", |(folder, _)| folder);
    let is_in = |path: &str, folder: &str| {
        folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    while !paths().all(|path| is_in(path, common)) {
        common = common.rsplit_once('/').map_or("", |(folder, _)| folder);
    }
    let mut folders = Labels::default();
    for path in paths() {
        let below = path.get(common.len()..).unwrap_or_default().trim_start_matches('/');
        if let Some((folder, _)) = below.split_once('/') {
            folders.count(folder);
        }
    }
    folders.most_frequent(MIN_DOCUMENTS, MAX_NAMED)
}
