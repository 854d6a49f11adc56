//! The tools. Names, descriptions and arguments are those of the document that they come from.

mod define_term;
mod get_document;
mod list_groups;
mod list_releases;
mod refresh_sources;
mod search_lexicon;

use lyceum_tools::ToolSpec;

pub(crate) use define_term::DefineTerm;
pub(crate) use get_document::GetDocument;
pub(crate) use list_groups::{Groups, ListGroups};
pub(crate) use list_releases::{ListReleases, Releases};
pub(crate) use refresh_sources::RefreshSources;
pub(crate) use search_lexicon::SearchLexicon;

use crate::Knowledge;

/// A contract that says whose knowledge it is about.
fn named(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
    spec.description = spec.description.replace("{title}", knowledge.title());
    spec
}
