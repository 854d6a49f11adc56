//! `list_groups`: the groups of the documents.

use lyceum_content::knowledge::{self, Entry};
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::summaries;
use crate::{Knowledge, provenance::Provenance};

/// Maximum number of groups per response.
const MAX_GROUPS: usize = 500;

/// The tool.
#[derive(Debug)]
pub(crate) struct ListGroups;

/// It takes no arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Groups {
    /// Total number of groups; the response has the first 500.
    total: usize,
    /// The groups, by name.
    groups: Vec<Group>,
}

/// A group or cell.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Group {
    /// The value of the `group` field; the id of the group's own document, if there is one.
    slug: String,
    /// Its name.
    title: String,
    /// Description, if a document has one.
    description: Option<String>,
    /// Number of documents in the group.
    documents: usize,
    /// Members.
    members: Vec<String>,
    /// Aliases.
    aliases: Vec<String>,
    /// Homepage.
    homepage: Option<String>,
    /// Image URL.
    logo: Option<String>,
    /// Provenance of the group's document; absent if it has none.
    #[serde(flatten)]
    provenance: Option<Provenance>,
}

impl Groups {
    /// All groups; empty before the first sync.
    pub(crate) async fn of(knowledge: &Knowledge) -> Result<Self, Error> {
        let snapshot = knowledge.ready().await?;
        let all = knowledge::groups(&snapshot.catalog);
        let groups = all.iter().take(MAX_GROUPS).map(|group| described(knowledge, group)).collect();
        Ok(Self { total: all.len(), groups })
    }
}

fn described(knowledge: &Knowledge, group: &knowledge::Group<'_>) -> Group {
    let entry: Option<&Entry> = group.entry.map(AsRef::as_ref);
    let text = |key: &str| {
        let text = entry.and_then(|entry| entry.metadata.get(key)).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let texts = |key: &str| entry.map(|entry| entry.texts(key)).unwrap_or_default();
    let description = entry.map(|entry| entry.summary.description.clone());
    Group {
        slug: group.slug.clone(),
        title: entry.map_or(&group.slug, |entry| &entry.summary.title).clone(),
        description: description.filter(|text| !text.is_empty()),
        documents: group.documents,
        members: texts("members"),
        aliases: texts("aliases"),
        homepage: text("homepage"),
        logo: text("logo"),
        provenance: entry.map(|entry| Provenance::of_entry(knowledge, entry)),
    }
}

impl Tool for ListGroups {
    const NAME: &'static str = "list_groups";
    const TITLE: &'static str = "List the groups of {title}";
    const DESCRIPTION: &'static str =
        "List all groups in the {title} knowledge base, with members, homepage and number of documents.";

    type Service = Knowledge;
    type Args = Args;
    type Output = Groups;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        summaries(knowledge, spec)
    }

    async fn call(knowledge: &Knowledge, _: &Call, Args {}: Args) -> Result<Groups, Error> {
        Groups::of(knowledge).await
    }
}
