//! The indexes, built from snapshots of the sources.

use std::sync::Arc;

use lyceum_content::library::{AgentsIndex, DocsIndex, Files, IndexFinding, SkillsIndex};
use lyceum_model::RelPath;
use lyceum_source::Snapshot;
use serde_json::{Value, json};

use crate::{
    PartKind, PartOptions,
    search::{Listed, Listing},
};

/// Maximum size of a file whose frontmatter is read, in bytes.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;

/// Start of the version of a snapshot whose files are of no commit.
const NO_COMMIT: &str = "tree-";

/// The indexes of all parts; `None` before the first sync of their source.
#[derive(Debug, Clone, Default)]
pub struct Indexes {
    /// The skills.
    pub skills: Option<Arc<Indexed<SkillsIndex>>>,
    /// The agent profiles.
    pub agents: Option<Arc<Indexed<AgentsIndex>>>,
    /// The docs.
    pub docs: Option<Arc<Indexed<DocsIndex>>>,
}

/// An index, and the snapshot that it was built from.
#[derive(Debug)]
pub struct Indexed<T> {
    /// The index.
    pub index: T,
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The commit of the snapshot, if its files are those of one.
    pub(crate) commit: Option<String>,
    /// What it lists, to search.
    pub(crate) listing: Listing,
}

impl Indexes {
    /// Builds the index of a part. Blocks.
    pub(crate) fn build(&mut self, kind: PartKind, snapshot: &Snapshot, part: &PartOptions) {
        let commit = Some(snapshot.version()).filter(|version| !version.starts_with(NO_COMMIT));
        let read = |path: &RelPath| String::from_utf8(snapshot.read(path, MAX_FILE_BYTES).ok()?).ok();
        let link = |path: &RelPath| part.link(commit.as_deref()?, path);
        let files = Files { paths: snapshot.files().keys().collect(), read: &read, link: &link };
        let (snapshot, path, commit) = (snapshot.clone(), part.path.as_ref(), commit.clone());
        match kind {
            PartKind::Skills => {
                let index = SkillsIndex::build(&files, path);
                let listing = Listing::new(index.entries.iter().map(Listed::skill));
                self.skills = Some(Arc::new(Indexed { index, snapshot, commit, listing }));
            }
            PartKind::Agents => {
                let index = AgentsIndex::build(&files, path);
                let listing = Listing::new(index.entries.iter().map(Listed::agent));
                self.agents = Some(Arc::new(Indexed { index, snapshot, commit, listing }));
            }
            PartKind::Docs => {
                let index = DocsIndex::build(&files, path);
                let pages = index.pages.iter();
                let listing =
                    Listing::new(pages.map(|(keys, path)| Listed::page(&index, keys, path, link(path))));
                self.docs = Some(Arc::new(Indexed { index, snapshot, commit, listing }));
            }
        }
    }

    /// What a part lists, to search.
    pub(crate) fn listing(&self, kind: PartKind) -> Option<&Listing> {
        match kind {
            PartKind::Skills => self.skills.as_ref().map(|skills| &skills.listing),
            PartKind::Agents => self.agents.as_ref().map(|agents| &agents.listing),
            PartKind::Docs => self.docs.as_ref().map(|docs| &docs.listing),
        }
    }

    /// An index as its JSON file has it.
    pub fn json(&self, kind: PartKind) -> Option<Value> {
        match kind {
            PartKind::Skills => self.skills.as_ref().map(|skills| json!(skills.index.entries)),
            PartKind::Agents => self.agents.as_ref().map(|agents| json!(agents.index.entries)),
            PartKind::Docs => self.docs.as_ref().map(|docs| json!(docs.index.tree)),
        }
    }

    /// Number of skills, agent profiles or pages.
    pub fn count(&self, kind: PartKind) -> Option<usize> {
        match kind {
            PartKind::Skills => self.skills.as_ref().map(|skills| skills.index.entries.len()),
            PartKind::Agents => self.agents.as_ref().map(|agents| agents.index.entries.len()),
            PartKind::Docs => self.docs.as_ref().map(|docs| docs.index.pages.len()),
        }
    }

    /// Files with unusable frontmatter.
    pub fn findings(&self, kind: PartKind) -> &[IndexFinding] {
        match kind {
            PartKind::Skills => self.skills.as_ref().map(|skills| skills.index.findings.as_slice()),
            PartKind::Agents => self.agents.as_ref().map(|agents| agents.index.findings.as_slice()),
            PartKind::Docs => self.docs.as_ref().map(|docs| docs.index.findings.as_slice()),
        }
        .unwrap_or_default()
    }

    /// The commit that a part is at.
    pub fn commit(&self, kind: PartKind) -> Option<&str> {
        self.snapshot(kind)?.commit()
    }

    /// The snapshot that an index was built from.
    pub(crate) fn snapshot(&self, kind: PartKind) -> Option<&Snapshot> {
        match kind {
            PartKind::Skills => self.skills.as_ref().map(|skills| &skills.snapshot),
            PartKind::Agents => self.agents.as_ref().map(|agents| &agents.snapshot),
            PartKind::Docs => self.docs.as_ref().map(|docs| &docs.snapshot),
        }
    }
}
