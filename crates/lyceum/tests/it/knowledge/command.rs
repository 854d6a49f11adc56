//! `lyceum sync`, `lyceum doctor` and `lyceum serve` on the command line.

use std::{
    fs,
    path::Path,
    process::{Output, Stdio},
};

use tempfile::TempDir;
use tokio::process::Command;

use super::stage::{Program, prepare};
use crate::app::{get, within};

const PAGE: &str = "---\ntitle: A page\ndate: 2026-01-01\npublish: true\n---\n\nText.\n";

/// A folder with a configuration, three documents and a file without frontmatter.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kb = folder.path().join("kb");
    fs::create_dir_all(kb.join("notes")).unwrap();
    for (file, text) in [
        ("notes/a.md", PAGE),
        ("notes/b.md", PAGE),
        ("notes/kept.md", "---\ntitle: Kept\ndate: 2026-01-01\n---\n"),
        ("README.md", "No frontmatter.\n"),
    ] {
        fs::write(kb.join(file), text).unwrap();
    }
    let config = format!("[[source]]\nname = \"kb\"\npath = {kb:?}\n[knowledge]\nsource = \"kb\"\n");
    fs::write(folder.path().join("lyceum.toml"), config).unwrap();
    folder
}

#[tokio::test]
async fn what_sync_brought_in_is_evaluated_and_searched() {
    let folder = folder();
    fs::write(folder.path().join("eval.yaml"), "- question: text\n  expect: [notes/a.md, kb/notes/b.md]\n")
        .unwrap();
    let (code, _, said) = lyceum(folder.path(), &["eval", "--mode", "lexical"]).await;
    assert_eq!((code, said.contains("run `lyceum sync`")), (Some(1), true), "{said}");
    let (code, said, _) = lyceum(folder.path(), &["sync"]).await;
    assert_eq!(code, Some(0), "{said}");
    let (code, said, more) = lyceum(folder.path(), &["eval", "--mode", "lexical"]).await;
    assert_eq!(code, Some(0), "{said}{more}");
    assert!(said.contains("1 query, 2 documents, 2 chunks"), "{said}");
    let warning =
        "warning: kb/notes/b.md is not in the index, so \"text\" can't find it (did you mean notes/b.md?)\n";
    assert!(said.contains(warning) && !said.contains("warning: notes/a.md"), "{said}");
    let (_, said, _) = lyceum(folder.path(), &["eval", "--mode", "lexical", "--json"]).await;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said[0]["missing"][0]["expect"], "kb/notes/b.md");
    let (code, said, _) = lyceum(folder.path(), &["search", "--mode", "lexical", "text"]).await;
    assert_eq!((code, said.contains("notes/a.md")), (Some(0), true), "{said}");
}

pub(super) async fn lyceum(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.args(arguments).current_dir(folder).env("LYCEUM_DATA_DIR", folder.join("data"));
    command.env("LYCEUM_EMBEDDER", "none");
    let running = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let Output { status, stdout, stderr } = within("the program ends", running).await.unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[tokio::test]
async fn sync_says_what_was_added_changed_removed_and_skipped() {
    let folder = folder();
    let (code, said, _) = lyceum(folder.path(), &["sync"]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("added: 2\n  added  notes/a.md\n  added  notes/b.md\n"), "{said}");
    assert!(said.contains("skipped: 1\n  skipped  README.md: it has no frontmatter"), "{said}");
    assert!(said.ends_with("4 files: 2 published, 0 drafts, 1 unpublished, 1 skipped, 0 failed\n"), "{said}");
    fs::write(folder.path().join("kb/notes/a.md"), PAGE.replace("Text", "Other text")).unwrap();
    fs::remove_file(folder.path().join("kb/notes/b.md")).unwrap();
    let (code, said, _) = lyceum(folder.path(), &["sync"]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("changed: 1\n  changed  notes/a.md\nremoved: 1\n  removed  notes/b.md\n"),
        "{said}"
    );
    let (_, said, _) = lyceum(folder.path(), &["sync"]).await;
    assert!(!said.contains("added") && !said.contains("changed") && !said.contains("removed"), "{said}");
}

#[tokio::test]
async fn sync_beside_a_server_says_whom_to_ask() {
    let folder = folder();
    let program = started(folder.path(), &["serve"]).await;
    program.shows_something().await;
    let (code, _, said) = lyceum(folder.path(), &["sync"]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("another process syncs this data folder; ask that server"), "{said}");
    let (code, said, _) = lyceum(folder.path(), &["doctor"]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("synced by a running server\nknowledge: 2 of 4 files are served"), "{said}");
}

#[tokio::test]
async fn the_doctor_names_what_is_not_served_and_why() {
    let folder = folder();
    let text = "---\ntitle: Soon\ndate: soon\npublish: true\n---\n";
    fs::write(folder.path().join("kb/notes/soon.md"), text).unwrap();
    fs::write(
        folder.path().join("kb/notes/yes.md"),
        "---\ntitle: Yes\ndate: 2026-01-01\npublish: yes\n---\n",
    )
    .unwrap();
    let (code, said, _) = lyceum(folder.path(), &["doctor"]).await;
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "  skipped  README.md: it has no frontmatter",
        "  warning  notes/soon.md:3: date: is not a date; write date: 2026-01-31",
        "  warning  notes/yes.md:4: publish: is neither true nor false; write publish: true",
    ] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
}

#[tokio::test]
async fn without_a_configuration_there_is_nothing_to_sync() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, said) = lyceum(folder.path(), &["sync"]).await;
    assert_eq!(
        (code, said.as_str()),
        (Some(1), "lyceum: there is no knowledge base to sync; add a [knowledge] table to lyceum.toml\n")
    );
}

#[tokio::test]
async fn serve_alone_serves_the_example_without_what_it_keeps_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let program = started(folder.path(), &["serve"]).await;
    program.shows_something().await;
    let page = program.send(get("/")).await.unwrap();
    assert!(page.text().contains("The knowledge base Ferry Street: 69 documents"), "{}", page.text());
    let list = program.send(get("/api/v1/entries?limit=100")).await.unwrap().json();
    assert_eq!(list["total"], 69);
    for entry in list["entries"].as_array().unwrap() {
        let path = format!(
            "/api/v1/entries/{}/{}",
            entry["contentType"].as_str().unwrap(),
            entry["id"].as_str().unwrap()
        );
        let document = program.send(get(&path)).await.unwrap();
        assert_eq!(document.status, 200, "{path}");
        assert!(!document.text().contains("kestrel-unpublished"), "{path}");
    }
}

#[tokio::test]
async fn serve_with_a_folder_serves_all_of_it() {
    let folder = folder();
    let docs = tempfile::tempdir().unwrap();
    fs::write(docs.path().join("plain.md"), "# A plain page\n\nNothing else.\n").unwrap();
    fs::write(docs.path().join("kept.md"), "---\npublish: false\n---\n").unwrap();
    fs::remove_file(folder.path().join("lyceum.toml")).unwrap();
    let program = started(folder.path(), &["serve", docs.path().to_str().unwrap()]).await;
    program.shows_something().await;
    let list = program.send(get("/api/v1/entries")).await.unwrap().json();
    assert_eq!((&list["total"], &list["entries"][0]["title"]), (&1.into(), &"A plain page".into()));
}

pub(super) async fn started(folder: &Path, arguments: &[&str]) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.arg("--data-dir").arg(folder.join("data")).args(arguments).args(["--listen", "127.0.0.1:0"]);
    prepare(&mut command, folder, &[]);
    Program::of(command, folder).await.unwrap()
}

#[tokio::test]
async fn commands_work_on_every_knowledge_base() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = String::new();
    for (name, table) in [("heron", "knowledge"), ("otter", "knowledge.docs")] {
        let tags = folder.path().join(name).join("tags");
        fs::create_dir_all(&tags).unwrap();
        let text = format!("---\ntitle: {name}\npublish: true\n---\nThe {name} lives by the river.\n");
        fs::write(tags.join(format!("{name}.md")), text).unwrap();
        config +=
            &format!("[[source]]\nname = \"{name}\"\npath = \"{name}\"\n[{table}]\nsource = \"{name}\"\n");
    }
    fs::write(folder.path().join("lyceum.toml"), config).unwrap();
    for command in ["sync", "reindex"] {
        let (code, said, err) = lyceum(folder.path(), &[command]).await;
        assert_eq!(code, Some(0), "{command}: {said}{err}");
        assert!(said.contains("knowledge:\n") && said.contains("docs:\n"), "{command}: {said}");
    }
    let found = async |arguments: &[&str]| lyceum(folder.path(), &[&["search"], arguments].concat()).await;
    let (code, both, err) = found(&["river"]).await;
    assert_eq!(code, Some(0), "{both}{err}");
    assert!(both.contains("knowledge: tags/heron.md") && both.contains("docs: tags/otter.md"), "{both}");
    let (_, json, _) = found(&["--json", "river"]).await;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["results"].as_array().map(Vec::len), Some(2), "{json}");
    let (_, first, _) = found(&["--knowledge", "knowledge", "river"]).await;
    assert!(first.contains("heron") && !first.contains("otter"), "{first}");
    let (_, second, _) = found(&["--knowledge", "docs", "river"]).await;
    assert!(second.contains("otter") && !second.contains("heron"), "{second}");
    let (code, _, err) = found(&["--knowledge", "dosc", "river"]).await;
    assert!(code != Some(0) && err.contains("one of: knowledge, docs"), "{err}");
}

#[tokio::test]
async fn a_data_folder_that_can_not_be_written_is_named_by_every_command() {
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    let commands: [&[&str]; 11] = [
        &["serve"],
        &["serve", "kb"],
        &["stdio"],
        &["sync"],
        &["search", "text"],
        &["reindex"],
        &["doctor"],
        &["model", "pull"],
        &["audit"],
        &["grants"],
        &["init", "kb", "--output", "other.toml"],
    ];
    let message = format!(
        "cannot write to the data folder {}: not a directory; make it writable, or name another with --data-dir",
        folder.path().join("file/data").display()
    );
    for command in commands {
        let (code, said, more) =
            lyceum(folder.path(), &[command, &["--data-dir", "file/data"]].concat()).await;
        assert_eq!(code, Some(1), "{command:?}: {said}{more}");
        assert!(format!("{said}{more}").contains(&message), "{command:?}: {said}{more}");
    }
    let (code, said, _) = lyceum(folder.path(), &["check", "--data-dir", "file/data"]).await;
    assert!(code == Some(0) && said.contains(&format!("warning: {message}")), "{said}");
}
