//! The indexes, built from snapshots of the sources.

use std::sync::Arc;

use lyceum_content::library::{AgentsIndex, DocsIndex, Files, IndexFinding, SkillsIndex};
use lyceum_model::RelPath;
use lyceum_source::Snapshot;
use serde_json::{Value, json};

use crate::PartKind;

/// Maximum size of a file whose frontmatter is read, in bytes.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;

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
}

impl Indexes {
    /// Builds the index of a part. Blocks.
    pub(crate) fn build(&mut self, kind: PartKind, snapshot: &Snapshot, path: Option<&RelPath>) {
        let read = |path: &RelPath| String::from_utf8(snapshot.read(path, MAX_FILE_BYTES).ok()?).ok();
        let files = Files { paths: snapshot.files().keys().collect(), read: &read };
        let snapshot = snapshot.clone();
        match kind {
            PartKind::Skills => {
                self.skills = Some(Arc::new(Indexed { index: SkillsIndex::build(&files, path), snapshot }));
            }
            PartKind::Agents => {
                self.agents = Some(Arc::new(Indexed { index: AgentsIndex::build(&files, path), snapshot }));
            }
            PartKind::Docs => {
                self.docs = Some(Arc::new(Indexed { index: DocsIndex::build(&files, path), snapshot }));
            }
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
