//! Excluded and included names.

use super::{
    Kind::{File, Folder},
    Verdict, by_name,
};
use crate::Reason;

#[track_caller]
fn check(folder: &str, names: &[&str], kind: super::Kind, expected: &Verdict) {
    for name in names {
        assert_eq!(by_name(folder, name, kind), *expected, "{folder}/{name}");
    }
}

#[test]
fn what_nobody_would_commit_is_left_out() {
    let hidden = Verdict::Excluded(Reason::Hidden);
    check("s", &[".env", ".env.local", ".npmrc", ".netrc", ".claude.json", ".md"], File, &hidden);
    check("s", &[".aws", ".ssh", ".venv", ".obsidian", ".idea"], Folder, &hidden);
    check("s", &["a.md~", "#a.md#", "a.md.swp"], File, &Verdict::Excluded(Reason::Backup));
    let settings = Verdict::Excluded(Reason::AgentSettings);
    check(".claude", &["settings.local.json", "settings.json"], File, &settings);
    check(".codex", &["auth.json"], File, &settings);
    check(".claude", &[".credentials.json"], File, &hidden);
}

#[test]
fn what_is_written_to_be_shared_is_taken() {
    check("s", &["a.md", "~a.md", "swp"], File, &Verdict::Included);
    check("s", &["#1.md", ".env.example", ".env.sample", ".npmrc.template"], File, &Verdict::Included);
    check(
        "",
        &[".claude", ".agents", ".cursor", ".github", ".claude-plugin", ".curated"],
        Folder,
        &Verdict::Included,
    );
    check(".claude", &["skills", "agents", "commands"], Folder, &Verdict::Included);
    check(".claude-plugin", &["marketplace.json", "plugin.json"], File, &Verdict::Included);
    check("", &[".git", ".GIT", "node_modules"], Folder, &Verdict::SilentlyExcluded);
    check("", &[".gitignore", ".DS_Store"], File, &Verdict::SilentlyExcluded);
}
