//! An ontology as it is told to others: every type with its place in the tree, its fields and its folders.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{FieldKind, Ontology};

/// The tree of types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Description<'a> {
    /// The type that all others extend.
    pub root: &'a str,
    /// Every type, by name.
    pub types: Vec<DescribedType<'a>>,
}

/// A type of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedType<'a> {
    /// Its name.
    pub name: &'a str,
    /// The type that it extends; nothing for the root.
    pub parent: Option<&'a str>,
    /// Whether it only gathers others, so that no document is of it alone.
    pub parent_only: bool,
    /// The types that extend it directly.
    pub children: Vec<&'a str>,
    /// The folders whose documents are of it where they do not say otherwise.
    pub folders: Vec<&'a str>,
    /// Every field it has, its own and those it extends.
    pub fields: BTreeMap<&'a str, DescribedField<'a>>,
}

/// A field of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DescribedField<'a> {
    /// What it holds.
    pub kind: FieldKind,
    /// Whether a document must have it.
    pub required: bool,
    /// What can be chosen, where the kind is a choice.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub of: &'a [String],
    /// What it is taken to be where it is not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

impl Ontology {
    /// The ontology as it is told to others.
    pub fn describe(&self) -> Description<'_> {
        let types = self.types.values().map(|one| {
            let children = self.types.values().filter(|child| child.parent.as_ref() == Some(&one.name));
            let mut folders: Vec<&str> = (self.folders.iter())
                .filter(|(_, name)| *name == one.name)
                .map(|(folder, _)| folder.as_str())
                .collect();
            folders.sort_unstable();
            let fields = one.fields.iter().map(|(name, field)| {
                let described = DescribedField {
                    kind: field.kind,
                    required: field.required,
                    of: &field.of,
                    default: field.default,
                };
                (name.as_str(), described)
            });
            DescribedType {
                name: &one.name,
                parent: one.parent.as_deref(),
                parent_only: one.parent_only,
                children: children.map(|child| child.name.as_str()).collect(),
                folders,
                fields: fields.collect(),
            }
        });
        Description { root: &self.root, types: types.collect() }
    }
}
