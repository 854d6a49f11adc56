//! A document: one markdown file of a knowledge base, read by an ontology.

use lyceum_model::RelPath;
use serde_json::{Map, Value};

use crate::{
    frontmatter::{self, FrontmatterFault},
    ontology::{self, FieldFault, Ontology},
};

/// One parsed file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'a> {
    /// Its type: what the frontmatter says, else what its folder stands for.
    pub content_type: String,
    /// The fields, with what could be mended.
    pub fields: Map<String, Value>,
    /// What follows the frontmatter.
    pub body: &'a str,
    /// Whether it is meant to be seen.
    pub visibility: Visibility,
    /// What is not as its type has it.
    pub faults: Vec<FieldFault>,
}

/// Whether a document is meant to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// `publish: true`, and no draft.
    Published,
    /// `draft: true`.
    Draft,
    /// `publish` is not true.
    Unpublished,
}

/// Reads one file.
pub fn read<'a>(
    ontology: &Ontology,
    path: &RelPath,
    text: &'a str,
) -> Result<Document<'a>, FrontmatterFault> {
    let parts = match frontmatter::parse(text) {
        // Where everything is served that does not say otherwise, a file need not say anything.
        Err(FrontmatterFault::Missing) if publishes(ontology, ontology.type_of_path(path)) => {
            frontmatter::Parts { fields: Map::new(), body: text }
        }
        parts => parts?,
    };
    let (content_type, type_fault) = content_type(ontology, path, &parts.fields);
    let (fields, mut faults) = match ontology.get(&content_type) {
        Some(content_type) => ontology::check(content_type, &parts.fields),
        None => (parts.fields, Vec::new()),
    };
    faults.extend(type_fault);
    let field = |key: &str| fields.get(key).filter(|value| !value.is_null());
    // Where it is not clear what was meant, nothing is shown: `draft: yes` is a draft, `publish: yes` is no leave.
    let is_draft = field("draft")
        .map_or_else(|| default(ontology, &content_type, "draft"), |field| *field != Value::Bool(false));
    let is_published = field("publish")
        .map_or_else(|| default(ontology, &content_type, "publish"), |field| *field == Value::Bool(true));
    let visibility = match (is_draft, is_published) {
        (true, _) => Visibility::Draft,
        (false, true) => Visibility::Published,
        (false, false) => Visibility::Unpublished,
    };
    Ok(Document { content_type, fields, body: parts.body, visibility, faults })
}

fn publishes(ontology: &Ontology, content_type: &str) -> bool {
    default(ontology, content_type, "publish")
}

fn default(ontology: &Ontology, content_type: &str, field: &str) -> bool {
    ontology.get(content_type).is_some_and(|one| one.default_of(field))
}

/// The type that the frontmatter names, else that of the path. Where it names one that gathers others, the type of the path
/// counts if it is one of those, for it says more; else the one that was named.
fn content_type(
    ontology: &Ontology,
    path: &RelPath,
    fields: &Map<String, Value>,
) -> (String, Option<FieldFault>) {
    let by_path = || ontology.type_of_path(path).to_owned();
    let fault = |message: String| Some(FieldFault { field: "type".to_owned(), message });
    match fields.get("type") {
        None | Some(Value::Null) => (by_path(), None),
        Some(Value::String(name)) => match ontology.get(name) {
            Some(known) if !known.parent_only => (name.clone(), None),
            Some(_) => {
                let below: Vec<&str> = (ontology.with_children(name).filter(|one| !one.parent_only))
                    .map(|one| one.name.as_str())
                    .collect();
                let by_path = ontology.type_of_path(path);
                let closest = if ontology.is_a(by_path, name) { by_path } else { name };
                let message = format!("{name:?} gathers others; write one of {}", below.join(", "));
                (closest.to_owned(), fault(message))
            }
            None => {
                let names: Vec<&str> =
                    ontology.types().filter(|one| !one.parent_only).map(|one| one.name.as_str()).collect();
                let name: String = name.chars().take(40).collect();
                (by_path(), fault(format!("there is no type {name:?}; write one of {}", names.join(", "))))
            }
        },
        Some(_) => (by_path(), fault("is not text; write the name of a type".to_owned())),
    }
}

#[cfg(test)]
mod tests;
