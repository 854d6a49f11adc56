//! An ontology as it is written, and the way from there to one that can be used.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_model::RelPath;
use serde::{Deserialize, Serialize};

use super::{ContentType, Ontology, ROOT_KEY};

/// Why a text is no ontology. The text is for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OntologyFault {
    /// It is not TOML of this form.
    #[error("the ontology can't be read: {0}")]
    NotToml(String),
    /// There is no type named `file`.
    #[error("the ontology has no type named \"file\"; every tree of types begins with it")]
    NoRoot,
    /// Two types have one name.
    #[error("the ontology has two types named {0:?}")]
    Twice(String),
    /// A name that can't stand in a URL.
    #[error("{0:?} can't be a type's name: write a-z, 0-9 and -, beginning with a letter, at most 40")]
    Name(String),
    /// A type extends one that is not there, or itself in the end.
    #[error("the type {name:?} extends {parent:?}, which is not there or extends it in turn")]
    Parent {
        /// The type.
        name: String,
        /// What it says that it extends.
        parent: String,
    },
    /// A folder that is no path, or that two types claim.
    #[error("the folder {folder:?} of the type {name:?} is not a path, or another type has it")]
    Folder {
        /// The type.
        name: String,
        /// The folder.
        folder: String,
    },
    /// A choice without anything to choose.
    #[error("the field {field:?} of the type {name:?} is a choice; say between what, as of = [\"…\"]")]
    Choice {
        /// The type.
        name: String,
        /// The field.
        field: String,
    },
}

/// The file.
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
    /// What a field of the kind bool is taken to be where it is not written.
    #[serde(default)]
    pub default: Option<bool>,
    /// What can be chosen, where the kind is a choice.
    #[serde(default)]
    pub of: Vec<String>,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// True or false.
    Bool,
    /// A day, or a moment.
    Date,
    /// An address of the web.
    Url,
    /// An address of a person.
    Email,
    /// One of some words.
    Choice,
    /// `lat` and `lng`.
    Place,
    /// Anything.
    Any,
}

pub(super) fn build(written: OntologyFile) -> Result<Ontology, OntologyFault> {
    let mut types: BTreeMap<String, TypeDefinition> = BTreeMap::new();
    for one in written.r#type {
        if !is_name(&one.name) {
            return Err(OntologyFault::Name(one.name));
        }
        if let Some((field, _)) =
            one.fields.iter().find(|(_, field)| field.kind == FieldKind::Choice && field.of.is_empty())
        {
            return Err(OntologyFault::Choice { name: one.name.clone(), field: field.clone() });
        }
        if let Some(earlier) = types.insert(one.name.clone(), one) {
            return Err(OntologyFault::Twice(earlier.name));
        }
    }
    if types.get(ROOT_KEY).is_none_or(|root| root.extends.is_some()) {
        return Err(OntologyFault::NoRoot);
    }
    let folders = folders(&types)?;
    let built = types.values().map(|one| Ok((one.name.clone(), content_type(one, &types)?)));
    Ok(Ontology { types: built.collect::<Result<_, _>>()?, folders, root: ROOT_KEY.to_owned() })
}

/// A type with the fields of all that it extends; the nearest definition of a field counts.
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
        // Only the root stands alone: what extends nothing else extends it.
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
