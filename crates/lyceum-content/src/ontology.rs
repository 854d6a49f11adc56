//! The ontology: content types, their fields, and the folders mapped to them.
//!
//! It is data: the default is `ontology/default.toml`, and a deployment can provide its own.

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

/// The root type, and the default for documents without a type.
const ROOT_KEY: &str = "file";

/// The types and their fields. Immutable.
#[derive(Debug, Clone)]
pub struct Ontology {
    types: BTreeMap<String, ContentType>,
    /// Folders and their types, longest path first, so that the nearest folder wins.
    folders: Vec<(RelPath, String)>,
    root: String,
}

/// A content type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentType {
    /// Its name, as in frontmatter, URLs and filters.
    pub name: String,
    /// The type that it extends; `None` for the root.
    pub parent: Option<String>,
    /// Whether it is abstract: documents must use a type that extends it.
    pub parent_only: bool,
    /// All fields, own and inherited.
    fields: BTreeMap<String, FieldDefinition>,
}

impl ContentType {
    /// The default of a boolean field; false if the type defines none.
    pub fn default_of(&self, field: &str) -> bool {
        self.fields.get(field).and_then(|field| field.default).unwrap_or(false)
    }
}

impl Ontology {
    /// Source of the default ontology.
    pub const STANDARD: &str = include_str!("ontology/default.toml");

    /// The default ontology.
    pub fn standard() -> Result<Self, OntologyFault> {
        Self::parse(Self::STANDARD)
    }

    /// Parses an ontology.
    pub fn parse(text: &str) -> Result<Self, OntologyFault> {
        let written: OntologyFile =
            toml::from_str(text).map_err(|error| OntologyFault::NotToml(error.message().to_owned()))?;
        definition::build(written)
    }

    /// All types, by name.
    pub fn types(&self) -> impl Iterator<Item = &ContentType> {
        self.types.values()
    }

    /// Finds a type by name.
    pub fn get(&self, name: &str) -> Option<&ContentType> {
        self.types.get(name)
    }

    /// A type and all types that extend it. Filters by type include them all.
    pub fn with_children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ContentType> {
        self.types.values().filter(move |one| self.is_a(&one.name, name))
    }

    /// Whether a type equals or extends another.
    pub fn is_a(&self, name: &str, ancestor: &str) -> bool {
        let parent = |one: &&ContentType| one.parent.as_deref().and_then(|name| self.types.get(name));
        std::iter::successors(self.types.get(name), parent).any(|one| one.name == ancestor)
    }

    /// The root type: that of plain documents.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The type of the nearest folder that has one, else the root type.
    pub fn type_of_path(&self, path: &RelPath) -> &str {
        self.nearest_folder(path).map_or(&self.root, |(_, name)| name)
    }

    /// The nearest folder of a path that is mapped to a type.
    pub fn folder_of(&self, path: &RelPath) -> Option<&RelPath> {
        self.nearest_folder(path).map(|(folder, _)| folder)
    }

    /// The folder for new documents of a type, the shortest if it has several; `None` if it has none.
    pub fn folder_for(&self, content_type: &str) -> Option<&RelPath> {
        self.folders.iter().rev().find(|(_, name)| name == content_type).map(|(folder, _)| folder)
    }

    fn nearest_folder(&self, path: &RelPath) -> Option<&(RelPath, String)> {
        self.folders.iter().find(|(folder, _)| path.below(folder).is_some())
    }
}

#[cfg(test)]
mod tests;
