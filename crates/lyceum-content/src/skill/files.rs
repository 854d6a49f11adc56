//! The files of a skill: own and inherited, assets and scripts.

use std::collections::BTreeMap;

use lyceum_model::RelPath;
use serde::Serialize;

use super::{Asset, Script, Skill};

/// An asset or script with the skill that it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inherited<T> {
    /// The asset or script.
    #[serde(flatten)]
    pub item: T,
    /// The skill that declares it.
    pub from: String,
}

/// A declared file, found by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredFile {
    /// Its path, relative to the skills folder.
    pub path: RelPath,
    /// The folder of the skill that declares it; `None` if that skill is the whole source.
    pub folder: Option<RelPath>,
    /// Asset or script.
    pub kind: ResourceKind,
    /// The ancestor that declares it; `None` if the skill itself does.
    pub from: Option<RelPath>,
}

/// Whether a file is declared as asset or script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceKind {
    /// An asset.
    Asset(Asset),
    /// A script.
    Script(Script),
}

impl ResourceKind {
    /// The `type` in responses.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Asset(asset) => &asset.kind,
            Self::Script(_) => "script",
        }
    }
}

/// Collects what a skill inherits along the chain, root first. The most specific file of a name wins; the skill's own
/// files are excluded.
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

/// Finds a script in a skill, then in its ancestors, nearest first. The same file may be an asset too.
pub(super) fn find_script(chain: &[&Skill], file: &RelPath) -> Option<(Script, Option<RelPath>, RelPath)> {
    chain.iter().rev().find_map(|skill| {
        let script = skill.scripts.iter().find(|script| script.file == *file)?;
        Some((script.clone(), skill.folder.clone().flatten(), skill.path_of(file)?))
    })
}

/// Finds a file in a skill, then in its ancestors, nearest first.
pub(super) fn find(chain: &[&Skill], file: &RelPath) -> Option<DeclaredFile> {
    chain.iter().rev().enumerate().find_map(|(distance, skill)| {
        let asset = skill.assets.iter().find(|asset| asset.file == *file).cloned().map(ResourceKind::Asset);
        let script =
            || skill.scripts.iter().find(|script| script.file == *file).cloned().map(ResourceKind::Script);
        let kind = asset.or_else(script)?;
        let path = skill.path_of(file)?;
        Some(DeclaredFile {
            path,
            folder: skill.folder.clone().flatten(),
            kind,
            from: (distance > 0).then(|| skill.path.clone()),
        })
    })
}

/// Whether a file is data, a schema or text rather than a program, by its extension: such a file is an asset, even in
/// `scripts/`.
pub(super) fn is_data(file: &RelPath) -> bool {
    matches!(
        file.extension().to_ascii_lowercase().as_str(),
        ".xsd"
            | ".xml"
            | ".xsl"
            | ".xslt"
            | ".dtd"
            | ".rng"
            | ".json"
            | ".jsonl"
            | ".json5"
            | ".csv"
            | ".tsv"
            | ".yaml"
            | ".yml"
            | ".toml"
            | ".ini"
            | ".cfg"
            | ".conf"
            | ".lock"
            | ".txt"
            | ".md"
            | ".rst"
            | ".html"
            | ".css"
            | ".proto"
            | ".graphql"
            | ".wsdl"
            | ".xlsx"
            | ".docx"
            | ".pptx"
            | ".parquet"
            | ".sqlite"
            | ".db"
            | ".ttf"
            | ".otf"
            | ".template"
            | ".tmpl"
            | ".license"
    ) || is_binary(file)
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
