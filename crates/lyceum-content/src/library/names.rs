//! Names and paths that callers pass, and unique names for what is listed.

use std::collections::HashSet;

use lyceum_model::RelPath;

/// Why a name or path of a caller is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidParameter(String);

/// Parses a name, file or path segment of a caller. Stricter than [`RelPath`]: `..` is refused anywhere, as the
/// library's specification demands.
pub fn parse_parameter(text: &str) -> Result<RelPath, InvalidParameter> {
    if text.contains("..") {
        let shown: String = text.chars().take(80).collect();
        return Err(InvalidParameter(format!(
            "{shown:?} is not a path that stays in its folder: it contains .."
        )));
    }
    RelPath::parse(text).map_err(|error| InvalidParameter(error.to_string()))
}

/// How an entry may be named, best first.
pub(super) struct Candidates {
    /// The name in its frontmatter.
    pub declared: Option<String>,
    /// The name of its file or folder.
    pub stem: String,
    /// Its path below the folder of all entries, which is unique.
    pub path: String,
}

/// Names every entry: by frontmatter, by file, or by path, whichever is the first that no other entry has. The path of an
/// entry always means that entry.
pub(super) fn unique(entries: &[Candidates]) -> Vec<String> {
    let paths: HashSet<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    let mut taken = HashSet::new();
    let names = entries.iter().map(|entry| {
        let is_free = |name: &str| {
            let is_own = name == entry.path;
            is_own || (parse_parameter(name).is_ok() && !paths.contains(name) && !taken.contains(name))
        };
        let declared = entry.declared.as_deref().filter(|name| is_free(name));
        let name = declared.or_else(|| Some(entry.stem.as_str()).filter(|stem| is_free(stem)));
        let name = name.unwrap_or(&entry.path).to_owned();
        taken.insert(name.clone());
        name
    });
    names.collect()
}
