//! A document: one markdown file of a knowledge base, parsed and validated against an ontology.

use lyceum_model::RelPath;
use serde_json::{Map, Value};

use crate::{
    frontmatter::{self, FrontmatterFault},
    ontology::{self, FieldFault, Ontology},
};

/// One parsed file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'a> {
    /// Content type: from the frontmatter, else from the folder.
    pub content_type: String,
    /// The fields, with repairs applied.
    pub fields: Map<String, Value>,
    /// The text after the frontmatter.
    pub body: &'a str,
    /// Whether it is served.
    pub visibility: Visibility,
    /// Whether [`Publishing::Frontmatter`] would publish it. If none of a source is, its authors don't use `publish`.
    pub is_published_by_frontmatter: bool,
    /// Violations of the type's schema.
    pub faults: Vec<FieldFault>,
}

/// Which documents of a source are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publishing {
    /// All but drafts and those with `publish: false`. Frontmatter is optional.
    All,
    /// Those with `publish: true`, or whose type publishes by default, and no drafts.
    Frontmatter,
}

impl Publishing {
    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Frontmatter => "frontmatter",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::All, Self::Frontmatter].into_iter().find(|one| one.as_str() == name)
    }
}

/// Whether a document is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Published.
    Published,
    /// `draft: true`.
    Draft,
    /// Not published.
    Unpublished,
}

/// Parses one file.
pub fn read<'a>(
    ontology: &Ontology,
    publishing: Publishing,
    path: &RelPath,
    text: &'a str,
) -> Result<Document<'a>, FrontmatterFault> {
    let publishes_type = default_of(ontology, ontology.type_of_path(path), "publish");
    let (parts, is_plain) = match frontmatter::parse(text) {
        // Frontmatter is optional if it need not say `publish: true`; then no field is required either.
        Err(FrontmatterFault::Missing) if publishing == Publishing::All || publishes_type => {
            (frontmatter::Parts { fields: Map::new(), body: text }, true)
        }
        parts => (parts?, false),
    };
    let (content_type, type_fault) = content_type(ontology, path, &parts.fields);
    let (fields, mut faults) = match ontology.get(&content_type) {
        Some(content_type) if !is_plain => ontology::check(content_type, &parts.fields),
        Some(_) | None => (parts.fields, Vec::new()),
    };
    faults.extend(type_fault);
    let field = |key: &str| fields.get(key).filter(|value| !value.is_null());
    // Fail closed on ambiguous values: `draft: yes` is a draft, `publish: yes` does not publish.
    let is_draft = field("draft")
        .map_or_else(|| default_of(ontology, &content_type, "draft"), |field| *field != Value::Bool(false));
    let by_type = default_of(ontology, &content_type, "publish");
    let publishes = |default: bool| field("publish").map_or(default, |field| *field == Value::Bool(true));
    let is_published = match publishing {
        Publishing::All => publishes(true),
        Publishing::Frontmatter => publishes(by_type),
    };
    let visibility = match (is_draft, is_published) {
        (true, _) => Visibility::Draft,
        (false, true) => Visibility::Published,
        (false, false) => Visibility::Unpublished,
    };
    let is_published_by_frontmatter = !is_draft && publishes(by_type);
    Ok(Document { content_type, fields, body: parts.body, visibility, is_published_by_frontmatter, faults })
}

fn default_of(ontology: &Ontology, content_type: &str, field: &str) -> bool {
    ontology.get(content_type).is_some_and(|one| one.default_of(field))
}

/// Determines the content type: from the frontmatter, else from the path. If the frontmatter names a parent-only type
/// and the path's type extends it, the path's type wins because it is more specific.
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
                let message = format!("{name:?} is a parent-only type; write one of {}", below.join(", "));
                (closest.to_owned(), fault(message))
            }
            None => {
                let names: Vec<&str> =
                    ontology.types().filter(|one| !one.parent_only).map(|one| one.name.as_str()).collect();
                let name: String = name.chars().take(40).collect();
                (by_path(), fault(format!("unknown type {name:?}; write one of {}", names.join(", "))))
            }
        },
        Some(_) => (by_path(), fault("is not text; write the name of a type".to_owned())),
    }
}

#[cfg(test)]
mod tests;
