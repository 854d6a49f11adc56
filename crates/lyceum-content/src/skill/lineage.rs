//! Paths of skills and of their parents.

use lyceum_model::RelPath;

/// The root skill, ancestor of all others.
pub(super) const ROOT: &str = "_root";

/// The file name of a folder's own skill.
pub(super) const INDEX: &str = "_index";

/// `ui/react/auth.md` → `ui/react/auth`; `None` if the file is not markdown.
pub(super) fn skill_path(file: &RelPath) -> Option<RelPath> {
    file.strip_suffix(".md")
}

/// The path of the parent, whether or not that skill exists.
pub(super) fn parent_path(path: &str) -> Option<String> {
    if path == ROOT {
        return None;
    }
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    let above = if last_segment(path) == INDEX {
        folder.and_then(|folder| folder.rsplit_once('/')).map(|(above, _)| above)
    } else {
        folder
    };
    Some(above.map_or_else(|| ROOT.to_owned(), |folder| format!("{folder}/{INDEX}")))
}

/// The nearest ancestor that exists.
pub(super) fn nearest_parent<T>(path: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut parent = parent_path(path);
    while let Some(candidate) = parent {
        if let Some(found) = find(&candidate) {
            return Some(found);
        }
        parent = parent_path(&candidate);
    }
    None
}

/// Display name: the last segment, or the folder's name for a folder's own skill.
pub(super) fn short_name(path: &str) -> &str {
    let folder = path.strip_suffix(INDEX).and_then(|rest| rest.strip_suffix('/'));
    last_segment(folder.unwrap_or(path))
}

fn last_segment(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}
