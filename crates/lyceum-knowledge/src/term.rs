//! A term of the lexicon, as tools return it.

use lyceum_content::knowledge::{Catalog, Entry, texts, truncate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Document, Knowledge, provenance::Provenance};

/// Maximum length of a definition, in characters.
const MAX_DEFINITION_CHARS: usize = 8_000;

/// A term and what it means.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Term {
    /// The id of its document, whose type is `tag`.
    id: String,
    /// The term.
    term: String,
    /// Definition as markdown, possibly truncated.
    definition: String,
    /// Short description, if the document has one.
    description: Option<String>,
    /// Aliases.
    aliases: Vec<String>,
    /// Related terms.
    related_terms: Vec<String>,
    /// Category.
    category: Option<String>,
    #[serde(flatten)]
    provenance: Provenance,
}

impl Term {
    /// A term with the first paragraph of its definition.
    pub(crate) fn of_entry(knowledge: &Knowledge, entry: &Entry) -> Self {
        let provenance = Provenance::of_entry(knowledge, entry);
        let definition = if entry.excerpt.is_empty() { &entry.summary.description } else { &entry.excerpt };
        Self::new(&entry.summary.id, &entry.summary.title, &entry.metadata, definition.clone(), provenance)
    }

    /// A term with its whole definition, and whether it is truncated.
    pub(crate) fn of_document(document: &Document) -> (Self, bool) {
        let body = document.content.trim();
        let definition = truncate(body, MAX_DEFINITION_CHARS);
        let is_truncated = definition != body;
        let provenance = Provenance::of_document(document);
        let mut term = Self::new(&document.id, &document.title(), &document.metadata, definition, provenance);
        if body.is_empty()
            && let Some(description) = &term.description
        {
            term.definition.clone_from(description);
        }
        (term, is_truncated)
    }

    fn new(
        id: &str,
        title: &str,
        metadata: &Map<String, Value>,
        definition: String,
        provenance: Provenance,
    ) -> Self {
        let text = |key: &str| {
            let text = metadata.get(key).and_then(Value::as_str).map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        Self {
            id: id.to_owned(),
            term: title.to_owned(),
            definition,
            description: text("description"),
            aliases: texts(metadata.get("aliases")),
            related_terms: texts(metadata.get("relatedTerms")),
            category: text("category"),
            provenance,
        }
    }
}

/// The titles of all terms.
pub(crate) fn titles(catalog: &Catalog) -> impl Iterator<Item = &str> {
    titles_of(catalog, &["tag"])
}

/// The titles of all documents of those types.
pub(crate) fn titles_of<'a>(catalog: &'a Catalog, types: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let entries = catalog.entries().iter().map(|entry| &entry.summary);
    entries.filter(|one| types.contains(&one.content_type.as_str())).map(|one| one.title.as_str())
}
