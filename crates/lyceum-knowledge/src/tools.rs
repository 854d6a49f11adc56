//! The tools. Their names and arguments are specified.

mod define_term;
mod get_document;
mod list_groups;
mod list_releases;
mod refresh_sources;
mod search_knowledge;
mod search_lexicon;
mod search_with_documents;

use lyceum_tools::ToolSpec;
use serde_json::Value;

pub(crate) use define_term::DefineTerm;
pub(crate) use get_document::GetDocument;
pub(crate) use list_groups::{Groups, ListGroups};
pub(crate) use list_releases::{ListReleases, Releases};
pub(crate) use refresh_sources::RefreshSources;
pub(crate) use search_knowledge::SearchKnowledge;
pub(crate) use search_lexicon::SearchLexicon;
pub(crate) use search_with_documents::SearchWithDocuments;

use crate::{
    Knowledge, Readers,
    search_request::{SCRIPT, SKILL},
};

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

/// Says in a member tool's description that the documents are public, if they are.
fn for_members(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
    if knowledge.options.readers == Readers::Everyone {
        spec.description.push_str(" Published documents are open to everyone by the REST API.");
    }
    spec
}

/// Lists the content types in a tool's filter schema.
fn with_types(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
    let types = knowledge.ontology().types().map(|one| one.name.as_str()).chain([SKILL, SCRIPT]);
    let types: Vec<Value> = types.map(Value::from).chain([Value::Null]).collect();
    let filters = spec.input_schema.values_mut().find_map(|part| filters_in(part, 4));
    if let Some(property) = filters.and_then(Value::as_object_mut) {
        property.insert("enum".to_owned(), types.into());
    }
    spec
}

/// The property `contentType` of the filters in a schema.
fn filters_in(schema: &mut Value, deep: usize) -> Option<&mut Value> {
    if schema.pointer("/properties/contentType").is_some() {
        return schema.pointer_mut("/properties/contentType");
    }
    if deep == 0 {
        return None;
    }
    schema.as_object_mut()?.values_mut().find_map(|part| filters_in(part, deep - 1))
}
