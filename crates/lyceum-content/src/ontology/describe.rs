//! Description of an ontology for clients: every type with its parent, children, fields and folders.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{FieldKind, Ontology};

/// The type tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Description<'a> {
    /// The type that all others extend.
    pub root: &'a str,
    /// All types, by name.
    pub types: Vec<DescribedType<'a>>,
}

/// A content type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribedType<'a> {
    /// Its name.
    pub name: &'a str,
    /// The type that it extends; null for the root.
    pub parent: Option<&'a str>,
    /// Whether it is abstract: documents must use a type that extends it.
    pub parent_only: bool,
    /// The types that extend it directly.
    pub children: Vec<&'a str>,
    /// Folders whose documents have this type by default.
    pub folders: Vec<&'a str>,
    /// All fields, own and inherited.
    pub fields: BTreeMap<&'a str, DescribedField<'a>>,
}

/// A field of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DescribedField<'a> {
    /// Kind of value.
    pub kind: FieldKind,
    /// Whether the field is required.
    pub required: bool,
    /// The values of a choice.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub of: &'a [String],
    /// Default of a boolean field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

impl Ontology {
    /// Describes the ontology for clients.
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
