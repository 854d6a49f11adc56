//! Which names of a folder are no part of a source.
//!
//! A folder is a place where people work: it holds what nobody would commit. A repository holds what somebody did, so
//! that only [`is_passed_over`] counts there.

use crate::Reason;

/// Folders of agents, which hold skills in folders of their own. The files right in them are settings and credentials.
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

/// Folders that describe plugins, and those that collections of skills are sorted into.
const SHARED_FOLDERS: &[&str] =
    &[".claude-plugin", ".codex-plugin", ".cursor-plugin", ".curated", ".experimental", ".system"];

/// Ends of hidden names that are written to be shared, such as `.env.example`.
const SHARED_ENDINGS: &[&str] = &[".example", ".sample", ".template"];

/// Names that nobody misses, so that nobody is told.
const SILENTLY_EXCLUDED: &[&str] =
    &[".DS_Store", ".gitattributes", ".gitignore", ".gitkeep", ".gitmodules", ".keep", ".mailmap"];

/// What something in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// What the name of something says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is a part of the source.
    Taken,
    /// It is none, and nobody is told.
    PassedOver,
    /// It is none.
    LeftOut(Reason),
}

/// Whether something of that name is no part of any source.
pub(crate) fn is_passed_over(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git") || name == b"node_modules"
}

/// Whether nothing below a folder of that name is a part of a folder source.
pub(crate) fn is_closed(name: &[u8]) -> bool {
    let hidden = |name| by_name("", name, Kind::Folder) != Verdict::Taken;
    is_passed_over(name) || std::str::from_utf8(name).is_ok_and(hidden)
}

/// What the name of something says, in a folder of that name.
pub(super) fn by_name(folder: &str, name: &str, kind: Kind) -> Verdict {
    if is_passed_over(name.as_bytes()) {
        return Verdict::PassedOver;
    }
    if kind == Kind::File && SILENTLY_EXCLUDED.contains(&name) {
        return Verdict::PassedOver;
    }
    let is_shared = match kind {
        Kind::Folder => AGENT_FOLDERS.contains(&name) || SHARED_FOLDERS.contains(&name),
        Kind::File => SHARED_ENDINGS.iter().any(|ending| name.ends_with(ending)),
    };
    if name.starts_with('.') && !is_shared {
        return Verdict::LeftOut(Reason::Hidden);
    }
    if kind == Kind::File && AGENT_FOLDERS.contains(&folder) {
        return Verdict::LeftOut(Reason::AgentSettings);
    }
    if kind == Kind::File && is_backup(name) {
        return Verdict::LeftOut(Reason::Backup);
    }
    Verdict::Taken
}

/// What editors leave beside a file: `name~` and `#name#` of Emacs, `name.swp` of Vim.
fn is_backup(name: &str) -> bool {
    name.ends_with('~')
        || (name.len() > 2 && name.starts_with('#') && name.ends_with('#'))
        || [".swp", ".swo"].iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests;
