//! `list_releases`: the releases of the documents.

use std::collections::BTreeSet;

use lyceum_content::knowledge::{self, Entry};
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summaries;
use crate::{Knowledge, provenance::Provenance};

/// Maximum number of releases per response.
const MAX_RELEASES: usize = 100;

/// Maximum number of documents per release.
const MAX_ENTRIES: usize = 20;

/// The tool.
#[derive(Debug)]
pub(crate) struct ListReleases;

/// It takes no arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Releases {
    /// Total number of releases; the response has the first 100.
    total: usize,
    /// The releases, by their newest document.
    releases: Vec<Release>,
}

/// A release.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Release {
    /// The value of the `release` field.
    slug: String,
    /// Number of documents in the release.
    documents: usize,
    /// The types of its documents.
    types: BTreeSet<String>,
    /// The groups that its documents belong to.
    groups: BTreeSet<String>,
    /// Date of its newest document, as written in the frontmatter.
    date: Option<String>,
    /// The 20 newest documents.
    entries: Vec<Part>,
}

/// A document of a release.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    /// The id, unique within the type.
    id: String,
    /// The type.
    content_type: String,
    /// The title.
    title: String,
    /// The date, as written in the frontmatter.
    date: Option<String>,
    #[serde(flatten)]
    provenance: Provenance,
}

impl Releases {
    /// All releases; empty before the first sync.
    pub(crate) async fn of(knowledge: &Knowledge) -> Result<Self, Error> {
        let snapshot = knowledge.ready().await?;
        let all = knowledge::releases(&snapshot.catalog);
        let releases = all.iter().take(MAX_RELEASES).map(|release| described(knowledge, release)).collect();
        Ok(Self { total: all.len(), releases })
    }
}

fn described(knowledge: &Knowledge, release: &knowledge::Release<'_>) -> Release {
    let summaries = || release.entries.iter().map(|entry| &entry.summary);
    Release {
        slug: release.slug.to_owned(),
        documents: release.entries.len(),
        types: summaries().map(|one| one.content_type.clone()).collect(),
        groups: summaries().filter_map(|one| one.group.clone()).collect(),
        date: summaries().find_map(|one| one.date.clone()),
        entries: release.entries.iter().take(MAX_ENTRIES).map(|entry| part(knowledge, entry)).collect(),
    }
}

fn part(knowledge: &Knowledge, entry: &Entry) -> Part {
    Part {
        id: entry.summary.id.clone(),
        content_type: entry.summary.content_type.clone(),
        title: entry.summary.title.clone(),
        date: entry.summary.date.clone(),
        provenance: Provenance::of_entry(knowledge, entry),
    }
}

impl Tool for ListReleases {
    const NAME: &'static str = "list_releases";
    const TITLE: &'static str = "List the releases of {title}";
    const DESCRIPTION: &'static str = "List the releases that documents in the {title} knowledge base belong to, newest first, with their metadata.";

    type Service = Knowledge;
    type Args = Args;
    type Output = Releases;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        summaries(knowledge, spec)
    }

    async fn call(knowledge: &Knowledge, _: &Call, Args {}: Args) -> Result<Releases, Error> {
        Releases::of(knowledge).await
    }
}
