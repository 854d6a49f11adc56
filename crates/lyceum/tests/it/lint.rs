//! `lyceum lint` on the command line.

use std::{fs, path::Path, process::Command};

/// The exit code and the output.
fn lint(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    let output = command.arg("lint").args(arguments).current_dir(folder).env_clear().output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn write(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

#[test]
fn each_fault_has_its_file_its_line_and_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "tags/good.md", "---\ntitle: T\ndate: 2024-01-15\npublish: true\n---\n");
    write(folder.path(), "links/bad.md", "---\ntitle: T\ndate: soon\nurl: https://example.org\n---\n");
    write(folder.path(), "notes/none.md", "# Only text\n");
    let expected = "links/bad.md:3: date: is not a date; write date: 2026-01-31\n\
        notes/none.md:1: it has no frontmatter; begin the file with a line of --- and the fields\n\
        3 documents: 1 not readable, 1 published, 1 unpublished; 2 with errors\n";
    assert_eq!(lint(folder.path(), &[]), (Some(1), expected.to_owned()));
}

#[test]
fn without_faults_it_ends_well() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "kb/tags/good.md", "---\ntitle: T\ndate: 2024-01-15\ndraft: true\n---\n");
    assert_eq!(lint(folder.path(), &["kb"]), (Some(0), "1 document: 1 draft; 0 with errors\n".to_owned()));
}

#[test]
fn types_of_ones_own_can_be_given() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "kb/recipes/bread.md", "---\noven: true\n---\n");
    let types = "[[type]]\nname = \"file\"\n[[type]]\nname = \"recipe\"\nfolders = [\"recipes\"]\n\
        fields.minutes = { kind = \"any\", required = true }\n";
    write(folder.path(), "types.toml", types);
    let (code, said) = lint(folder.path(), &["kb", "--ontology", "types.toml"]);
    assert_eq!(code, Some(1));
    assert!(said.starts_with("recipes/bread.md:1: minutes: is missing; write minutes: \"…\"\n"), "{said}");
    write(folder.path(), "types.toml", "[[type]]\nname = \"recipe\"\n");
    assert_eq!(lint(folder.path(), &["kb", "--ontology", "types.toml"]), (Some(1), String::new()));
}

/// The server skips hidden files, and so does lint.
#[test]
fn what_is_hidden_is_skipped_as_the_server_skips_it() {
    let folder = tempfile::tempdir().unwrap();
    let good = "---\ntitle: T\ndate: 2024-01-15\npublish: true\n---\n";
    for name in ["notes/a.md", ".obsidian/b.md", ".github/docs/c.md", "notes/.d.md", "notes/ignored.md"] {
        write(folder.path(), name, good);
    }
    write(folder.path(), ".gitignore", "ignored.md\n");
    let expected = ".github/docs/c.md: it is hidden: its name or that of a folder begins with a dot\n\
        .obsidian/: it is hidden: its name begins with a dot\n\
        notes/.d.md: it is hidden: its name begins with a dot\n\
        notes/ignored.md: it is ignored: ignored.md in .gitignore\n\
        5 documents: 1 published, 4 skipped; 0 with errors\n";
    assert_eq!(lint(folder.path(), &[]), (Some(0), expected.to_owned()));
}

#[test]
fn the_same_error_in_many_files_is_one_line_unless_all_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c", "d", "e"] {
        write(folder.path(), &format!("{name}.md"), "---\ntitle: T\ndate: soon\n---\nText.\n");
    }
    let (code, said) = lint(folder.path(), &[]);
    assert_eq!((code, said.lines().count()), (Some(1), 2), "{said}");
    assert!(said.starts_with("5 files: date: is not a date;"), "{said}");
    assert!(said.contains("(first: a.md, b.md, c.md)\n5 documents: 5 published; 5 with errors\n"), "{said}");
    let (_, said) = lint(folder.path(), &["--all"]);
    assert_eq!(said.lines().count(), 6, "{said}");
    let (code, said) = lint(folder.path(), &["--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &said["withErrors"], &said["states"]["published"]), (Some(1), &5.into(), &5.into()));
    assert_eq!(said["findings"][4]["path"], "e.md");
}

#[test]
fn nothing_to_validate_is_said() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(lint(folder.path(), &[]), (Some(0), "no documents (markdown files) found\n".to_owned()));
}

#[test]
fn plain_markdown_needs_no_frontmatter() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.md", "# Only text\n");
    assert_eq!(lint(folder.path(), &[]), (Some(0), "1 document: 1 published; 0 with errors\n".to_owned()));
}
