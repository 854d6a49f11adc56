//! Which file and folder names are excluded from a folder source.
//!
//! A working folder holds files that nobody would commit. A repository holds only committed files, so there only
//! [`is_always_excluded`] applies.

use crate::Reason;

/// Folders of agents. They hold skills in subfolders; files directly in them are settings and credentials.
const AGENT_FOLDERS: &[&str] = &[
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".factory",
    ".gemini",
    ".github",
    ".kiro",
    ".opencode",
    ".roo",
    ".windsurf",
];

/// Folders with plugin manifests, and categories of skill collections.
const SHARED_FOLDERS: &[&str] =
    &[".claude-plugin", ".codex-plugin", ".cursor-plugin", ".curated", ".experimental", ".system"];

/// Suffixes of hidden files meant to be shared, such as `.env.example`.
const SHARED_SUFFIXES: &[&str] = &[".example", ".sample", ".template"];

/// Files excluded without a report.
const SILENTLY_EXCLUDED: &[&str] =
    &[".DS_Store", ".gitattributes", ".gitignore", ".gitkeep", ".gitmodules", ".keep", ".mailmap"];

/// Kind of a folder entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// Whether an entry is part of the source, judging by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Part of the source.
    Included,
    /// Excluded without a report.
    SilentlyExcluded,
    /// Excluded with a reason.
    Excluded(Reason),
}

/// Whether a name is excluded from every source.
pub(crate) fn is_always_excluded(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git") || name == b"node_modules"
}

/// Whether a folder of that name is excluded from folder sources, with everything below it.
pub(crate) fn is_excluded_folder(name: &[u8]) -> bool {
    let hidden = |name| by_name("", name, Kind::Folder) != Verdict::Included;
    is_always_excluded(name) || std::str::from_utf8(name).is_ok_and(hidden)
}

/// Judges an entry by its name and the name of its folder.
pub(super) fn by_name(folder: &str, name: &str, kind: Kind) -> Verdict {
    if is_always_excluded(name.as_bytes()) {
        return Verdict::SilentlyExcluded;
    }
    if kind == Kind::File && SILENTLY_EXCLUDED.contains(&name) {
        return Verdict::SilentlyExcluded;
    }
    let is_shared = match kind {
        Kind::Folder => AGENT_FOLDERS.contains(&name) || SHARED_FOLDERS.contains(&name),
        Kind::File => SHARED_SUFFIXES.iter().any(|suffix| name.ends_with(suffix)),
    };
    if name.starts_with('.') && !is_shared {
        return Verdict::Excluded(Reason::Hidden);
    }
    if kind == Kind::File && AGENT_FOLDERS.contains(&folder) {
        return Verdict::Excluded(Reason::AgentSettings);
    }
    if kind == Kind::File && is_backup(name) {
        return Verdict::Excluded(Reason::Backup);
    }
    Verdict::Included
}

/// Editor backups: `name~` and `#name#` of Emacs, `name.swp` of Vim.
fn is_backup(name: &str) -> bool {
    name.ends_with('~')
        || (name.len() > 2 && name.starts_with('#') && name.ends_with('#'))
        || [".swp", ".swo"].iter().any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests;
