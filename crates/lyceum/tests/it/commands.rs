//! Commands for people and for scripts: `--json`, completions, manual pages, warnings.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

const PAGE: &str = "---\ntitle: A page\ndate: 2026-01-01\npublish: true\n---\n\nText.\n";

/// A folder with a configuration and a published document.
fn folder(more: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("kb/notes")).unwrap();
    fs::write(folder.path().join("kb/notes/a.md"), PAGE).unwrap();
    let config = "[[source]]\nname = \"kb\"\npath = \"kb\"\n[knowledge]\nsource = \"kb\"\n";
    fs::write(folder.path().join("lyceum.toml"), format!("{config}{more}")).unwrap();
    folder
}

/// The exit code and standard output.
fn lyceum(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.args(arguments).current_dir(folder).env_clear();
    command.env("LYCEUM_DATA_DIR", folder.join("data")).env("LYCEUM_EMBEDDER", "none");
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// The exit code, standard output and standard error with a local model from that folder.
fn with_models(folder: &Path, models: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.args(arguments).current_dir(folder).env_clear().env("LYCEUM_DATA_DIR", folder.join("data"));
    let output = command.env("LYCEUM_EMBEDDER", "local").env("LYCEUM_MODELS", models).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The exit code and standard output, which must be JSON.
#[track_caller]
fn json_of(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let (code, text) = lyceum(folder, arguments);
    (code, serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}")))
}

/// The keys of an object, sorted.
#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect()
}

#[test]
fn check_warns_of_what_is_unused_missing_or_open_and_ends_well() {
    let more =
        "[[source]]\nname = \"drafts\"\npath = \"kbs\"\n[auth]\nmode = \"github-pat\"\nanonymous = true\n";
    let folder = folder(more);
    let (code, said) = lyceum(folder.path(), &["check"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("is valid: listen on 127.0.0.1:8787, 2 sources\n"), "{said}");
    for warning in [
        "warning: no service uses the source \"drafts\"",
        "warning: the path of the source \"drafts\": no such folder: kbs (did you mean ./kb?)",
        "warning: without signing in, everyone can read: lists and search results of knowledge, without full documents;",
    ] {
        assert!(said.contains(warning), "{warning:?} is not in {said}");
    }
    let (code, said) = json_of(folder.path(), &["check", "--json"]);
    assert_eq!((code, &said["valid"], &said["sources"]), (Some(0), &json!(true), &json!(["kb", "drafts"])));
    assert_eq!(said["warnings"].as_array().unwrap().len(), 3, "{said}");
    assert_eq!(keys(&said), ["errors", "file", "listen", "sources", "valid", "warnings"]);
}

#[test]
fn check_prints_errors_as_json() {
    let folder = folder("[server]\nport = 1\n");
    let (code, said) = json_of(folder.path(), &["check", "--json"]);
    assert_eq!((code, &said["valid"]), (Some(1), &json!(false)));
    let error = &said["errors"][0];
    assert_eq!((&error["origin"], &error["key"]), (&json!("lyceum.toml:7"), &json!("server.port")), "{said}");
    assert_eq!(keys(&said), ["errors", "file", "listen", "sources", "valid", "warnings"]);
}

#[test]
fn one_source_is_not_called_many() {
    let (_, said) = lyceum(folder("").path(), &["check"]);
    assert!(said.contains(", 1 source\n"), "{said}");
}

#[test]
fn the_doctor_groups_findings_and_prints_json() {
    let folder = folder("[[source]]\nname = \"spare\"\npath = \"kb\"\n");
    for name in ["b", "c", "d", "e"] {
        fs::write(folder.path().join(format!("kb/notes/{name}.md")), "Only text.\n").unwrap();
    }
    let (code, said) = lyceum(folder.path(), &["doctor"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("  warning  no service uses the source \"spare\""), "{said}");
    assert!(said.contains("knowledge: 1 of 5 files is served"), "{said}");
    assert!(said.contains("  skipped  4 files: it has no frontmatter"), "{said}");
    assert!(said.contains("(first: notes/b.md, notes/c.md, notes/d.md)\n"), "{said}");
    let (_, all) = lyceum(folder.path(), &["doctor", "--all"]);
    assert!(all.contains("  skipped  notes/e.md: it has no frontmatter"), "{all}");
    let (code, said) = json_of(folder.path(), &["doctor", "--json"]);
    assert_eq!((code, &said["healthy"]), (Some(0), &json!(true)));
    assert_eq!(keys(&said), ["healthy", "sections", "version"]);
    let sections = said["sections"].as_array().unwrap();
    let names: Vec<&Value> = sections.iter().map(|section| &section["name"]).collect();
    assert_eq!(names, ["configuration", "search", "sign-in", "knowledge", "skills", "library", "upstream"]);
    assert_eq!(keys(&sections[3]), ["findings", "healthy", "lines", "name"]);
    assert_eq!(sections[3]["findings"].as_array().unwrap().len(), 4);
    assert_eq!(keys(&sections[3]["findings"][0]), ["field", "line", "message", "path", "severity"]);
}

#[test]
fn the_doctor_reports_a_broken_configuration_as_json() {
    let (code, said) = json_of(folder("[server]\nport = 1\n").path(), &["doctor", "--json"]);
    assert_eq!((code, &said["healthy"]), (Some(1), &json!(false)));
    assert_eq!(said["sections"][0]["name"], "configuration");
}

#[test]
fn sync_and_reindex_print_json() {
    let folder = folder("");
    let (code, said) = json_of(folder.path(), &["sync", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(keys(&said[0]), ["knowledge", "pendingObjects", "report", "search", "uploadFailures"]);
    assert_eq!((&said[0]["report"]["added"]["count"], &said[0]["search"]["pending"]), (&json!(1), &json!(0)));
    let (code, said) = json_of(folder.path(), &["reindex", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!((&said[0]["knowledge"], &said[0]["search"]["documents"]), (&json!("knowledge"), &json!(1)));
}

#[test]
fn a_new_key_is_printed_as_json() {
    let (code, said) = json_of(folder("").path(), &["key", "--json"]);
    assert_eq!((code, keys(&said)), (Some(0), vec!["key"]));
}

#[test]
fn search_explains_scores_in_words() {
    let folder = folder("");
    let (code, said) = lyceum(folder.path(), &["search", "--explain", "text"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("  BM25 ") && said.contains(", cosine not found\n"), "{said}");
    assert!(!said.contains("Some("), "{said}");
}

#[test]
fn completions_know_the_commands_of_every_shell() {
    let folder = folder("");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, script) = lyceum(folder.path(), &["completions", shell]);
        assert_eq!(code, Some(0), "{shell}");
        assert!(script.contains("doctor") && script.contains("no-embed"), "{shell}: {script}");
    }
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = folder("");
    let (code, page) = lyceum(folder.path(), &["man"]);
    assert_eq!((code, page.contains(".TH lyceum 1")), (Some(0), true), "{page}");
    assert_eq!(lyceum(folder.path(), &["man", "pages/man1"]).0, Some(0));
    for page in ["lyceum.1", "lyceum-serve.1", "lyceum-model-pull.1"] {
        let text = fs::read_to_string(folder.path().join("pages/man1").join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}: {text}");
    }
}

#[test]
fn only_content_words_are_corrected() {
    let folder = folder("");
    fs::write(
        folder.path().join("kb/notes/b.md"),
        format!("{PAGE}Three bakers have the role of baking sourdough.\n"),
    )
    .unwrap();
    let (_, said) = lyceum(folder.path(), &["search", "there", "roll", "sourdouhg"]);
    assert!(said.contains("did you mean: there roll sourdough\n"), "{said}");
}

#[test]
fn sync_embeds_to_the_end() {
    let folder = folder("");
    let models = lyceum_testkit::model_folder().parent().unwrap().to_owned();
    let (code, said, err) = with_models(folder.path(), &models, &["sync", "--no-embed", "--json"]);
    assert_eq!(code, Some(0), "{said}{err}");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said[0]["search"]["model"], Value::Null, "{said}");
    let (code, said, err) = with_models(folder.path(), &models, &["sync", "--json"]);
    assert_eq!(code, Some(0), "{said}{err}");
    let said: Value = serde_json::from_str(&said).unwrap();
    let search = &said[0]["search"];
    assert_eq!(
        (&search["state"], &search["chunks"], &search["pending"]),
        (&json!("ready"), &json!(1), &json!(0))
    );
    assert!(search["model"].is_string(), "{said}");
    let (code, said, err) = with_models(folder.path(), &models, &["search", "--mode", "vector", "writing"]);
    assert_eq!((code, err.contains("no embedding")), (Some(0), false), "{said}{err}");
}

#[test]
fn search_embeds_what_is_missing() {
    let folder = folder("");
    let models = lyceum_testkit::model_folder().parent().unwrap().to_owned();
    let (code, said, err) = with_models(folder.path(), &models, &["search", "--mode", "vector", "writing"]);
    assert_eq!(
        (code, said.contains("notes/a.md"), err.contains("no embedding")),
        (Some(0), true, false),
        "{err}"
    );
}

#[test]
fn missing_embeddings_are_said_with_the_command_that_computes_them() {
    let (folder, models) = (folder(""), tempfile::tempdir().unwrap());
    let expected = "1 of 1 passages have no embedding: ";
    let (code, said, _) = with_models(folder.path(), models.path(), &["sync"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("note: {expected}")) && said.contains("then run `lyceum sync`"), "{said}");
    let (code, _, err) = with_models(folder.path(), models.path(), &["search", "text"]);
    assert_eq!((code, err.contains(expected)), (Some(0), true), "{err}");
}
