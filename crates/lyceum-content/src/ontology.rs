//! The ontology: which types of documents there are, what their fields are, and which folder means which type.
//!
//! It is data: the default is a file in this folder, and a deployment can bring its own.

mod check;
mod dates;
mod definition;
mod describe;

use std::collections::BTreeMap;

use lyceum_model::RelPath;

pub use check::{FieldFault, check};
pub use dates::moment;
use definition::{FieldDefinition, OntologyFile};
pub use definition::{FieldKind, OntologyFault};
pub use describe::{DescribedField, DescribedType, Description};

/// The type that a document has when nothing says otherwise: the root of the tree.
const ROOT_KEY: &str = "file";

/// The types and their fields. Immutable.
#[derive(Debug, Clone)]
pub struct Ontology {
    types: BTreeMap<String, ContentType>,
    /// Folders and their types, the longest path first, so that the nearest folder decides.
    folders: Vec<(RelPath, String)>,
    root: String,
}

/// A type of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentType {
    /// Its name, as in frontmatter, URLs and filters.
    pub name: String,
    /// The type that it extends; nothing for the root.
    pub parent: Option<String>,
    /// Whether it only gathers others, so that no document is of it alone.
    pub parent_only: bool,
    /// Every field it has, its own and those it extends.
    fields: BTreeMap<String, FieldDefinition>,
}

impl ContentType {
    /// What a field is taken to be where it is not written.
    pub fn default_of(&self, field: &str) -> bool {
        self.fields.get(field).and_then(|field| field.default).unwrap_or(false)
    }
}

impl Ontology {
    /// The text of the ontology that is used where none is given.
    pub const STANDARD: &str = include_str!("ontology/default.toml");

    /// The ontology that is used where none is given.
    pub fn standard() -> Result<Self, OntologyFault> {
        Self::parse(Self::STANDARD)
    }

    /// The same types, where documents that do not say `publish` are served.
    pub fn publishing_by_default(mut self) -> Self {
        for field in self.types.values_mut().filter_map(|one| one.fields.get_mut("publish")) {
            field.default = Some(true);
        }
        self
    }

    /// Reads an ontology.
    pub fn parse(text: &str) -> Result<Self, OntologyFault> {
        let written: OntologyFile =
            toml::from_str(text).map_err(|error| OntologyFault::NotToml(error.message().to_owned()))?;
        definition::build(written)
    }

    /// Every type, by name.
    pub fn types(&self) -> impl Iterator<Item = &ContentType> {
        self.types.values()
    }

    /// The type of that name.
    pub fn get(&self, name: &str) -> Option<&ContentType> {
        self.types.get(name)
    }

    /// A type and all that extend it: what a filter by that type means.
    pub fn with_children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ContentType> {
        self.types.values().filter(move |one| self.is_a(&one.name, name))
    }

    /// Whether documents of a type count as documents of another: it is the same, or extends it.
    pub fn is_a(&self, name: &str, ancestor: &str) -> bool {
        let parent = |one: &&ContentType| one.parent.as_deref().and_then(|name| self.types.get(name));
        std::iter::successors(self.types.get(name), parent).any(|one| one.name == ancestor)
    }

    /// The type that a folder stands for: of the nearest folder that stands for one, else the root of the tree.
    pub fn type_of_path(&self, path: &RelPath) -> &str {
        let found = self.folders.iter().find(|(folder, _)| path.below(folder).is_some());
        found.map_or(&self.root, |(_, name)| name)
    }
}

#[cfg(test)]
mod tests;
