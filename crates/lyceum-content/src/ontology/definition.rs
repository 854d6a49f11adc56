//! The TOML form of an ontology, and its validation.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_model::RelPath;
use serde::{Deserialize, Serialize};

use super::{ContentType, Ontology, ROOT_KEY};

/// Why an ontology is invalid. The message is for its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OntologyFault {
    /// It is not valid TOML, or not of this schema.
    #[error("can't parse the ontology: {0}")]
    NotToml(String),
    /// There is no type named `file`.
    #[error("the ontology has no type named \"file\"; it is the root that all types extend")]
    NoRoot,
    /// Two types have the same name.
    #[error("the ontology has two types named {0:?}")]
    Duplicate(String),
    /// A name that is not URL-safe.
    #[error("{0:?} is not a valid type name; use at most 40 of a-z, 0-9 and -, starting with a letter")]
    Name(String),
    /// A type extends an unknown type, or itself through a cycle.
    #[error("the type {name:?} extends {parent:?}, which does not exist or forms a cycle")]
    Parent {
        /// The type.
        name: String,
        /// The type that it extends.
        parent: String,
    },
    /// An invalid path, or a folder that two types claim.
    #[error("the folder {folder:?} of the type {name:?} is not a valid path, or another type claims it")]
    Folder {
        /// The type.
        name: String,
        /// The folder.
        folder: String,
    },
    /// A choice without values.
    #[error(
        "the field {field:?} of the type {name:?} is a choice without values; list them, as of = [\"…\"]"
    )]
    Choice {
        /// The type.
        name: String,
        /// The field.
        field: String,
    },
}

/// The ontology file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OntologyFile {
    r#type: Vec<TypeDefinition>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeDefinition {
    name: String,
    extends: Option<String>,
    #[serde(default)]
    parent_only: bool,
    #[serde(default)]
    folders: Vec<String>,
    #[serde(default)]
    fields: BTreeMap<String, FieldDefinition>,
}

/// A field of a type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldDefinition {
    pub kind: FieldKind,
    #[serde(default)]
    pub required: bool,
    /// Default of a boolean field.
    #[serde(default)]
    pub default: Option<bool>,
    /// The values of a choice.
    #[serde(default)]
    pub of: Vec<String>,
}

/// Kind of value that a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// A boolean.
    Bool,
    /// A date or time.
    Date,
    /// A URL.
    Url,
    /// An e-mail address.
    Email,
    /// One of a list of values.
    Choice,
    /// A location with `lat` and `lng`.
    Place,
    /// Anything.
    Any,
}

pub(super) fn build(file: OntologyFile) -> Result<Ontology, OntologyFault> {
    let mut types: BTreeMap<String, TypeDefinition> = BTreeMap::new();
    for one in file.r#type {
        if !is_name(&one.name) {
            return Err(OntologyFault::Name(one.name));
        }
        if let Some((field, _)) =
            one.fields.iter().find(|(_, field)| field.kind == FieldKind::Choice && field.of.is_empty())
        {
            return Err(OntologyFault::Choice { name: one.name.clone(), field: field.clone() });
        }
        if let Some(earlier) = types.insert(one.name.clone(), one) {
            return Err(OntologyFault::Duplicate(earlier.name));
        }
    }
    if types.get(ROOT_KEY).is_none_or(|root| root.extends.is_some()) {
        return Err(OntologyFault::NoRoot);
    }
    let folders = folders(&types)?;
    let built = types.values().map(|one| Ok((one.name.clone(), content_type(one, &types)?)));
    Ok(Ontology { types: built.collect::<Result<_, _>>()?, folders, root: ROOT_KEY.to_owned() })
}

/// Resolves a type with its inherited fields; the nearest definition of a field wins.
fn content_type(
    one: &TypeDefinition,
    types: &BTreeMap<String, TypeDefinition>,
) -> Result<ContentType, OntologyFault> {
    let mut fields = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut at = one;
    loop {
        for (name, field) in &at.fields {
            fields.entry(name.clone()).or_insert_with(|| field.clone());
        }
        seen.insert(at.name.as_str());
        // Types without `extends` extend the root.
        let parent = at.extends.as_deref().or((at.name != ROOT_KEY).then_some(ROOT_KEY));
        match parent {
            None => break,
            Some(parent) => {
                let fault = || OntologyFault::Parent { name: one.name.clone(), parent: parent.to_owned() };
                at = types
                    .get(parent)
                    .filter(|parent| !seen.contains(parent.name.as_str()))
                    .ok_or_else(fault)?;
            }
        }
    }
    let parent = one.extends.clone().or_else(|| (one.name != ROOT_KEY).then(|| ROOT_KEY.to_owned()));
    Ok(ContentType { name: one.name.clone(), parent, parent_only: one.parent_only, fields })
}

fn folders(types: &BTreeMap<String, TypeDefinition>) -> Result<Vec<(RelPath, String)>, OntologyFault> {
    let mut folders: BTreeMap<RelPath, String> = BTreeMap::new();
    for one in types.values() {
        for folder in &one.folders {
            let fault = || OntologyFault::Folder { name: one.name.clone(), folder: folder.clone() };
            let path = RelPath::parse(folder.trim_end_matches('/')).map_err(|_| fault())?;
            if folders.insert(path, one.name.clone()).is_some() {
                return Err(fault());
            }
        }
    }
    let mut folders: Vec<(RelPath, String)> = folders.into_iter().collect();
    folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.as_str().len()));
    Ok(folders)
}

fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    name.len() <= 40 && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(allowed)
}
