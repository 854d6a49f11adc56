//! Registers tools, resources and prompts; URIs of resources.

use std::sync::Arc;

use lyceum_model::Domain;
use lyceum_tools::{RegistryBuilder, RegistryError};

use crate::{Features, Knowledge, KnowledgeBases, KnowledgeSearch, drafts, prompts, resources, tools};

/// Registers tools, resources and prompts, as far as the current catalog has something for them.
pub fn register(
    builder: RegistryBuilder,
    domain: &Domain,
    finder: &Arc<KnowledgeSearch>,
) -> Result<RegistryBuilder, RegistryError> {
    let knowledge = &finder.knowledge;
    let features = Features::of(&knowledge.snapshot());
    let mut builder = builder
        .tool::<tools::SearchKnowledge>(domain, finder)?
        .tool::<tools::GetDocument>(domain, knowledge)?
        .tool::<tools::SearchWithDocuments>(domain, finder)?
        .tool::<tools::RefreshSources>(domain, knowledge)?;
    if features.lexicon {
        builder = builder
            .tool::<tools::DefineTerm>(domain, knowledge)?
            .tool::<tools::SearchLexicon>(domain, knowledge)?;
    }
    if features.groups {
        builder = builder.tool::<tools::ListGroups>(domain, knowledge)?;
    }
    if features.releases {
        builder = builder.tool::<tools::ListReleases>(domain, knowledge)?;
    }
    if knowledge.options.drafts.is_some() {
        builder = builder
            .asking_tool::<tools::CreateDraft, _>(domain, knowledge)?
            .tool::<tools::ListDrafts>(domain, knowledge)?;
        if drafts::takes_links(knowledge.ontology()) {
            builder = builder.asking_tool::<tools::SaveLink, _>(domain, knowledge)?;
        }
    }
    let builder = resources::register(builder, domain, knowledge)?;
    prompts::register(builder, domain, knowledge, features)
}

/// Registers the search over several knowledge bases.
pub fn register_everything(
    builder: RegistryBuilder,
    domain: &Domain,
    bases: &Arc<KnowledgeBases>,
) -> Result<RegistryBuilder, RegistryError> {
    builder.tool::<tools::SearchEverything>(domain, bases)
}

/// The URIs of a document, by its key `type/id`; a term has one in the lexicon too.
pub fn document_uris(knowledge: &Knowledge, key: &str) -> impl Iterator<Item = String> {
    let host = host(knowledge);
    let term = key.strip_prefix("tag/").map(|id| format!("mcp://{host}/lexicon/{id}"));
    std::iter::once(format!("mcp://{host}/content/{key}")).chain(term)
}

/// The URIs of resources that list documents.
pub fn list_uris(knowledge: &Knowledge) -> impl Iterator<Item = String> {
    let host = host(knowledge);
    ["groups", "releases"].into_iter().map(move |list| format!("mcp://{host}/data/{list}"))
}

/// The host of the URIs: a slug of the title.
pub(crate) fn host(knowledge: &Knowledge) -> String {
    let lower = knowledge.title().to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
