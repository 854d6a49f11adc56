//! The tools. Their names and arguments are specified.

mod create_draft;
mod define_term;
mod get_document;
mod list_drafts;
mod list_groups;
mod list_releases;
mod refresh_sources;
mod save_link;
mod search_everything;
mod search_knowledge;
mod search_lexicon;
mod search_with_documents;

use lyceum_tools::ToolSpec;
use serde_json::Value;

pub(crate) use create_draft::CreateDraft;
pub(crate) use define_term::DefineTerm;
pub(crate) use get_document::GetDocument;
pub(crate) use list_drafts::ListDrafts;
pub(crate) use list_groups::{Groups, ListGroups};
pub(crate) use list_releases::{ListReleases, Releases};
pub(crate) use refresh_sources::RefreshSources;
pub(crate) use save_link::SaveLink;
pub(crate) use search_everything::SearchEverything;
pub(crate) use search_knowledge::SearchKnowledge;
pub(crate) use search_lexicon::SearchLexicon;
pub(crate) use search_with_documents::SearchWithDocuments;

use crate::{
    Knowledge,
    public::{PublicContent, member_note},
    search_request::{SCRIPT, SKILL},
};

/// A tool that returns lists, passages or definitions.
fn summaries(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
    spec.access = knowledge.options.public.summaries(&spec.access.domain);
    named(knowledge, spec)
}

/// A tool that returns full documents: for members, as specified, even where everyone may read them over REST.
fn documents(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
    spec.access = PublicContent::Summaries.documents(&spec.access.domain);
    spec.description.push_str(member_note(&spec.access));
    if knowledge.options.public == PublicContent::All {
        spec.description.push_str(" Published documents are open to everyone by the REST API.");
    }
    named(knowledge, spec)
}

/// Puts the title of the knowledge base into a tool's title and description.
fn named(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
    for text in [&mut spec.title, &mut spec.description] {
        *text = text.replace("{title}", knowledge.title());
    }
    spec
}

/// Appends what the knowledge base holds to a tool's description.
fn with_profile(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
    with(spec, &knowledge.snapshot().profile.about)
}

/// Appends how large the lexicon is to a tool's description.
fn with_terms(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
    match knowledge.snapshot().profile.terms.as_str() {
        "" => spec,
        terms => with(spec, &format!("The lexicon of {} has {terms}.", knowledge.title())),
    }
}

/// Appends a sentence to a tool's description.
fn with(mut spec: ToolSpec, sentence: &str) -> ToolSpec {
    if !sentence.is_empty() {
        spec.description = format!("{} {sentence}", spec.description);
    }
    spec
}

/// Lists the content types in a tool's filter schema.
fn with_types(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
    let types = knowledge.ontology().types().map(|one| one.name.as_str()).chain([SKILL, SCRIPT]);
    let types: Vec<Value> = types.map(Value::from).chain([Value::Null]).collect();
    let filters = spec.input_schema.values_mut().find_map(|part| filters_in(part, 4));
    let content_type = filters.and_then(|filters| filters.get_mut("contentType"));
    if let Some(property) = content_type.and_then(Value::as_object_mut) {
        property.insert("enum".to_owned(), types.into());
    }
    spec
}

/// The properties of the filters in a schema.
fn filters_in(schema: &mut Value, deep: usize) -> Option<&mut Value> {
    if schema.pointer("/properties/contentType").is_some() {
        return schema.pointer_mut("/properties");
    }
    if deep == 0 {
        return None;
    }
    schema.as_object_mut()?.values_mut().find_map(|part| filters_in(part, deep - 1))
}
