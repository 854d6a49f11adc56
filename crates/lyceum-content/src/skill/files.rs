//! The files of a skill: its own, those it inherits, and how they are told apart.

use std::collections::BTreeMap;

use lyceum_model::RelPath;
use serde::Serialize;

use super::{Asset, Script, Skill};

/// Something of a skill or of one that it inherits from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inherited<T> {
    /// The asset or script.
    #[serde(flatten)]
    pub item: T,
    /// The skill that it is of.
    pub from: String,
}

/// A declared file that was looked for by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredFile {
    /// Where it is, from the folder of the skills on.
    pub path: RelPath,
    /// The folder of the skill that it is of; nothing where that skill is the whole source.
    pub folder: Option<RelPath>,
    /// What it was declared as.
    pub kind: ResourceKind,
    /// The skill that it is of, where that is not the one that was asked for.
    pub from: Option<RelPath>,
}

/// What a file was declared as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceKind {
    /// An asset.
    Asset(Asset),
    /// A script.
    Script(Script),
}

impl ResourceKind {
    /// The `type` in answers.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Asset(asset) => &asset.kind,
            Self::Script(_) => "script",
        }
    }
}

/// What a skill inherits: along the chain from the root on, the more specific of two with one name wins, and what
/// is the skill's own is left out.
pub(super) fn inherited<T: Clone>(
    chain: &[&Skill],
    items: impl Fn(&Skill) -> &[T],
    file: impl Fn(&T) -> &RelPath,
) -> Vec<Inherited<T>> {
    let Some((own, ancestors)) = chain.split_last() else { return Vec::new() };
    let mut found: BTreeMap<RelPath, Inherited<T>> = BTreeMap::new();
    for skill in ancestors {
        for item in items(skill) {
            found.insert(file(item).clone(), Inherited { item: item.clone(), from: skill.path.to_string() });
        }
    }
    for item in items(own) {
        found.remove(file(item));
    }
    found.into_values().collect()
}

/// Looks a script up in a skill, then in those it inherits from, nearest first. It may be an asset too.
pub(super) fn find_script(chain: &[&Skill], file: &RelPath) -> Option<(Script, Option<RelPath>, RelPath)> {
    chain.iter().rev().find_map(|skill| {
        let script = skill.scripts.iter().find(|script| script.file == *file)?;
        Some((script.clone(), skill.folder.clone().flatten(), skill.place_of(file)?))
    })
}

/// Looks a file up in a skill, then in those it inherits from, nearest first.
pub(super) fn find(chain: &[&Skill], file: &RelPath) -> Option<DeclaredFile> {
    chain.iter().rev().enumerate().find_map(|(distance, skill)| {
        let asset = skill.assets.iter().find(|asset| asset.file == *file).cloned().map(ResourceKind::Asset);
        let script =
            || skill.scripts.iter().find(|script| script.file == *file).cloned().map(ResourceKind::Script);
        let kind = asset.or_else(script)?;
        let path = skill.place_of(file)?;
        Some(DeclaredFile {
            path,
            folder: skill.folder.clone().flatten(),
            kind,
            from: (distance > 0).then(|| skill.path.clone()),
        })
    })
}

/// Whether a file is sent as base64, by its extension alone.
pub fn is_binary(file: &RelPath) -> bool {
    matches!(
        file.extension().to_ascii_lowercase().as_str(),
        ".png" | ".jpg" | ".jpeg" | ".gif" | ".svg" | ".ico" | ".webp" | ".pdf" | ".zip" | ".woff" | ".woff2"
    )
}

/// The media type of a file that is sent as base64.
pub fn mime_type(file: &RelPath) -> &'static str {
    match file.extension().to_ascii_lowercase().as_str() {
        ".png" => "image/png",
        ".jpg" | ".jpeg" => "image/jpeg",
        ".gif" => "image/gif",
        ".svg" => "image/svg+xml",
        ".pdf" => "application/pdf",
        ".zip" => "application/zip",
        ".woff" => "font/woff",
        ".woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
