//! First contact: the program is pointed at repositories in the shapes that people have, and serves them as what they are.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    command::{lyceum, started},
    stage::{Program, eventually},
};
use crate::app::{call, get, modern};

const SKILL: &str =
    "---\nname: pdf\ndescription: Fills in PDF forms.\n---\n\n# PDF\n\nUse the form filler.\n";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// `lyceum serve` with these locations, once it is ready.
async fn served(data: &Path, locations: &[&Path]) -> Program {
    let paths = locations.iter().map(|path| path.to_str().unwrap());
    let arguments: Vec<&str> = std::iter::once("serve").chain(paths).collect();
    let program = started(data, &arguments).await;
    eventually("it is ready", || async {
        let response = program.send(get("/readyz")).await.unwrap();
        if response.status == 200 { Ok(()) } else { Err(response.text().to_owned()) }
    })
    .await;
    program
}

async fn tool_names(program: &Program) -> Vec<String> {
    let tools = program.send(modern("tools/list", &json!({}))).await.unwrap().result();
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn documents(program: &Program, root: &str) -> Vec<Value> {
    let list = program.send(get(&format!("{root}/api/v1/entries?limit=100"))).await.unwrap().json();
    list["entries"].as_array().unwrap().iter().map(|entry| entry["path"].clone()).collect()
}

#[tokio::test]
async fn a_repository_of_skills_is_served_as_skills() {
    let data = tempfile::tempdir().unwrap();
    let files =
        [("README.md", "# Skills"), ("skills/pdf/SKILL.md", SKILL), ("skills/pdf/forms.md", "# Forms")];
    let repository = folder(&files);
    let program = served(data.path(), &[repository.path()]).await;
    let tools = tool_names(&program).await;
    assert!(tools.contains(&"get_skill".to_owned()), "{tools:?}");
    assert!(!tools.contains(&"search_knowledge".to_owned()), "{tools:?}");
    let listed = program.send(call("list_skills", &json!({}))).await.unwrap().result().to_string();
    assert!(listed.contains("\"path\":\"pdf\"") && !listed.contains("forms.md"), "{listed}");
}

#[tokio::test]
async fn a_plugin_marketplace_is_served_as_skills() {
    let data = tempfile::tempdir().unwrap();
    let files = [
        (".claude-plugin/marketplace.json", "{}"),
        ("plugins/office/README.md", "# Office"),
        ("plugins/office/skills/pdf/SKILL.md", SKILL),
    ];
    let repository = folder(&files);
    let program = served(data.path(), &[repository.path()]).await;
    let listed = program.send(call("list_skills", &json!({}))).await.unwrap().result().to_string();
    assert!(listed.contains("pdf"), "{listed}");
}

#[tokio::test]
async fn a_mixed_repository_becomes_several_services() {
    let data = tempfile::tempdir().unwrap();
    let files = [("docs/start.md", "# Start\n\nHello."), ("skills/pdf/SKILL.md", SKILL)];
    let repository = folder(&files);
    let program = served(data.path(), &[repository.path()]).await;
    let tools = tool_names(&program).await;
    for name in ["get_skill", "search_knowledge"] {
        assert!(tools.contains(&name.to_owned()), "{tools:?}");
    }
    assert_eq!(documents(&program, "").await, ["docs/start.md"], "skills are no documents");
}

#[tokio::test]
async fn several_locations_are_served_each_under_its_name() {
    let data = tempfile::tempdir().unwrap();
    let both = folder(&[("handbook/a.md", "# A"), ("product/b.md", "# B")]);
    let program = served(data.path(), &[&both.path().join("handbook"), &both.path().join("product")]).await;
    let tools = tool_names(&program).await;
    for name in ["handbook_search_knowledge", "product_search_knowledge", "search_everything"] {
        assert!(tools.contains(&name.to_owned()), "{tools:?}");
    }
    assert_eq!(documents(&program, "/handbook").await, ["a.md"]);
    assert_eq!(documents(&program, "/product").await, ["b.md"]);
}

#[tokio::test]
async fn a_typed_knowledge_base_publishes_by_frontmatter_wherever_it_is_named() {
    let typed = "---\ntype: pattern\ntitle: Cells\ndate: 2026-01-01\npublish: true\n---\nCells.\n";
    let hidden = "---\ntype: pattern\ntitle: Soon\ndate: 2026-01-01\n---\nSoon.\n";
    let base = folder(&[("artifacts/patterns/cells.md", typed), ("artifacts/patterns/soon.md", hidden)]);
    check_same_everywhere(&base, &["artifacts/patterns/cells.md"], "those with `publish: true`").await;
}

#[tokio::test]
async fn plain_docs_are_published_whole_wherever_they_are_named() {
    let docs = folder(&[
        ("a.md", "# A"),
        ("b.md", "---\ntitle: B\n---\nB"),
        ("no.md", "---\npublish: false\n---\n"),
    ]);
    check_same_everywhere(&docs, &["a.md", "b.md"], "all without `publish: false`").await;
}

/// `serve PATH`, a server with `lyceum.toml`, `doctor` and `sync` publish the same documents.
async fn check_same_everywhere(source: &TempDir, expected: &[&str], rule: &str) {
    let data = tempfile::tempdir().unwrap();
    let program = served(data.path(), &[source.path()]).await;
    assert_eq!(documents(&program, "").await, expected);
    let health = program.send(get("/health")).await.unwrap().json();
    assert_eq!(health["knowledge"]["documents"], expected.len());

    let other = tempfile::tempdir().unwrap();
    let path = source.path().to_str().unwrap();
    let config = format!("[[source]]\nname = \"docs\"\npath = {path:?}\n[knowledge]\nsource = \"docs\"\n");
    fs::write(other.path().join("lyceum.toml"), config).unwrap();
    let program = served(other.path(), &[]).await;
    assert_eq!(documents(&program, "").await, expected);

    let elsewhere = tempfile::tempdir().unwrap();
    let (code, said, more) = lyceum(elsewhere.path(), &["doctor", path]).await;
    assert_eq!(code, Some(0), "{said}{more}");
    assert!(said.contains(rule), "{said}");
    let (code, said, more) = lyceum(elsewhere.path(), &["sync", path]).await;
    assert_eq!(code, Some(0), "{said}{more}");
    assert!(said.contains(&format!("{} published", expected.len())), "{said}");
    let (_, said, _) = lyceum(elsewhere.path(), &["lint", path]).await;
    assert!(said.contains(&format!("{} published", expected.len())), "{said}");
}

#[tokio::test]
async fn nothing_published_is_a_warning_with_the_line_to_write() {
    let docs = folder(&[("a.md", "---\ntitle: A\n---\nA.\n")]);
    let path = docs.path().to_str().unwrap();
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "[[source]]\nname = \"docs\"\npath = {path:?}\n[knowledge]\nsource = \"docs\"\npublish = \"frontmatter\"\n"
    );
    fs::write(home.path().join("lyceum.toml"), config).unwrap();
    for command in [&["doctor"][..], &["sync"], &["search", "anything"]] {
        let (_, said, more) = lyceum(home.path(), command).await;
        assert!(said.contains("set publish = \"all\" in [knowledge]"), "{command:?}: {said}{more}");
    }
    let program = served(home.path(), &[]).await;
    let health = program.send(get("/health")).await.unwrap().json();
    assert_eq!(health["knowledge"]["publishing"], "frontmatter");
    assert!(health["knowledge"]["warning"].as_str().unwrap().contains("publish = \"all\""), "{health}");
}

#[tokio::test]
async fn a_path_that_is_not_there_ends_the_command_and_is_named() {
    let home = tempfile::tempdir().unwrap();
    for command in ["serve", "sync", "doctor", "stdio", "init"] {
        let (code, _, said) = lyceum(home.path(), &[command, "./missing"]).await;
        assert_eq!((code, said.as_str()), (Some(1), "lyceum: no such folder: ./missing\n"), "{command}");
    }
}

#[tokio::test]
async fn a_folder_is_searched_without_a_configuration() {
    let docs = folder(&[("herons.md", "# Herons\n\nThe heron waits by the river.\n")]);
    let home = tempfile::tempdir().unwrap();
    let path = docs.path().to_str().unwrap();
    let (code, said, more) =
        lyceum(home.path(), &["search", "--mode", "lexical", "--source", path, "river"]).await;
    assert_eq!(code, Some(0), "{said}{more}");
    assert!(said.contains("herons.md"), "{said}");
}

#[tokio::test]
async fn a_search_of_the_example_says_that_it_is_the_example() {
    let home = tempfile::tempdir().unwrap();
    let (code, _, said) = lyceum(home.path(), &["search", "--mode", "lexical", "consent"]).await;
    assert!(code == Some(0) && said.contains("this is the bundled example"), "{said}");
}

#[tokio::test]
async fn init_writes_what_serve_would_serve() {
    let home = folder(&[("docs/start.md", "# Start"), ("docs/skills/pdf/SKILL.md", SKILL)]);
    let (code, said, more) = lyceum(home.path(), &["init", "docs"]).await;
    assert_eq!(code, Some(0), "{said}{more}");
    assert!(said.contains("docs: docs, 1 markdown file; 1 skill (folders with SKILL.md)"), "{said}");
    let written = fs::read_to_string(home.path().join("lyceum.toml")).unwrap();
    assert!(written.contains("exclude = [\"skills\"]"), "{written}");
    let comment = "#   knowledge  1 document\n#   left out   1 file: in folders that are served as skills";
    assert!(written.contains(comment) && written.contains("#   skills     1 skill\n"), "{written}");
    let (code, said, _) = lyceum(home.path(), &["check"]).await;
    assert_eq!(code, Some(0), "{said}");
    let program = served(home.path(), &[]).await;
    assert_eq!(documents(&program, "").await, ["start.md"]);
    assert!(tool_names(&program).await.contains(&"get_skill".to_owned()));
    let (code, _, more) = lyceum(home.path(), &["init", "docs"]).await;
    assert!(code == Some(1) && more.contains("to replace it, delete it first"), "{more}");
}

#[tokio::test]
async fn tools_without_anything_behind_them_are_not_offered() {
    let data = tempfile::tempdir().unwrap();
    let docs = folder(&[("a.md", "# A")]);
    let program = served(data.path(), &[docs.path()]).await;
    let expected =
        ["get_document", "refresh_sources", "search_knowledge", "search_with_documents", "server_info"];
    eventually("only tools that find something", || async {
        let tools = tool_names(&program).await;
        if tools == expected { Ok(()) } else { Err(format!("{tools:?}")) }
    })
    .await;
    fs::create_dir(docs.path().join("tags")).unwrap();
    fs::write(docs.path().join("tags/heron.md"), "---\ntitle: Heron\n---\nA bird.\n").unwrap();
    eventually("the lexicon is offered once it has a term", || async {
        let tools = tool_names(&program).await;
        if tools.contains(&"define_term".to_owned()) { Ok(()) } else { Err(format!("{tools:?}")) }
    })
    .await;
}

#[tokio::test]
async fn the_status_page_and_health_count_skills() {
    let data = tempfile::tempdir().unwrap();
    let repository = folder(&[("skills/pdf/SKILL.md", SKILL)]);
    let program = served(data.path(), &[repository.path()]).await;
    let page = program.send(get("/")).await.unwrap();
    assert!(page.text().contains("Skills skills: 1"), "{}", page.text());
    let health = program.send(get("/health")).await.unwrap().json();
    assert_eq!(health["skills"], json!({ "skills": 1, "findings": 0 }));
}

/// The description of a tool, and the instructions, once they describe what is served.
async fn described(program: &Program, tool: &str, about: &str) -> String {
    eventually(about, || async {
        let tools = program.send(modern("tools/list", &json!({}))).await.unwrap().result();
        let listed = tools["tools"].as_array().unwrap().iter().find(|listed| listed["name"] == tool).unwrap();
        let description = listed["description"].as_str().unwrap().to_owned();
        assert!(description.chars().count() <= 600, "{description}");
        let discovered = program.send(modern("server/discover", &json!({}))).await.unwrap().result();
        let instructions = discovered["instructions"].as_str().unwrap();
        let is_described = description.ends_with(about) && instructions.contains(about);
        if is_described { Ok(description) } else { Err(format!("{description}\n{instructions}")) }
    })
    .await
}

#[tokio::test]
async fn tools_are_described_by_what_is_served() {
    let page = |tags: &str| format!("---\ntags: [{tags}]\n---\n# Page\n");
    let (soil, repair) = (page("soil, [[commons]]"), page("repair, Commons"));
    let tagged: Vec<(String, &str)> = (0..12)
        .map(|number| (format!("{number}.md"), if number < 4 { &soil } else { &repair }.as_str()))
        .collect();
    let tagged: Vec<(&str, &str)> = tagged.iter().map(|(file, text)| (file.as_str(), *text)).collect();
    let data = tempfile::tempdir().unwrap();
    let docs = folder(&tagged);
    let program = served(data.path(), &[docs.path()]).await;
    let about = "It holds at least 10 documents. Topics: Commons, repair, soil.";
    let description = described(&program, "search_knowledge", about).await;
    assert!(description.starts_with("Search the "), "{description}");

    let other = tempfile::tempdir().unwrap();
    let pattern = "---\ntype: pattern\ntitle: Cells\ndate: 2026-01-01\n---\nCells.\n";
    let files = [
        ("kb/guides/a.md", "# A"),
        ("kb/guides/b.md", pattern),
        ("kb/api/c.md", "# C"),
        ("kb/api/d.md", "# D"),
    ];
    let program = served(other.path(), &[folder(&files).path()]).await;
    let about = "It holds fewer than 10 documents of the types file, pattern. Folders: api, guides.";
    described(&program, "search_knowledge", about).await;
}

#[tokio::test]
async fn skills_are_named_where_they_are_looked_for() {
    let data = tempfile::tempdir().unwrap();
    let repository = folder(&[("skills/pdf/SKILL.md", SKILL), ("skills/docx/SKILL.md", SKILL)]);
    let program = served(data.path(), &[repository.path()]).await;
    described(&program, "get_skill", "The skills: docx, pdf.").await;
}

#[tokio::test]
async fn pip_is_run_only_if_the_operator_allows_it() {
    let home = folder(&[("docs/a.md", "# A")]);
    let (programs, marker) = (home.path().join("bin"), home.path().join("asked"));
    fs::create_dir(&programs).unwrap();
    for name in ["python3", "python", "pip3", "pip"] {
        let program = programs.join(name);
        fs::write(&program, format!("#!/bin/sh\necho > {marker:?}\nexit 1\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    // Nothing listens there.
    let variables =
        [("LYCEUM_EMBEDDER", "local"), ("HF_ENDPOINT", "http://127.0.0.1:9"), ("PATH", path.as_str())];
    let source = "[[source]]\nname = \"docs\"\npath = \"docs\"\n[knowledge]\nsource = \"docs\"\n";
    for (table, advice) in
        [("", "run `lyceum model pull`"), ("[search]\npip = true\n", "pip could not download")]
    {
        fs::write(home.path().join("lyceum.toml"), format!("{source}{table}")).unwrap();
        let program = Program::start(home.path(), &home.path().join("data"), &variables).await;
        eventually("the model can't be downloaded", || async {
            let log = program.log();
            if log.contains("embedding failed") && log.contains(advice) { Ok(()) } else { Err(log) }
        })
        .await;
        assert_eq!(marker.exists(), !table.is_empty(), "{}", program.log());
        program.kill().await;
    }
}
