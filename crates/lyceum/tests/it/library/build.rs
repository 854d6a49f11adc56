//! REQ-BUILD-* and REQ-INFRA-*: the index builder, its CI workflow, and a server that is never older than its sources.

use std::{fs, path::Path, process::Command, sync::Arc};

use lyceum::config::{LibraryService, Location};
use lyceum_net::Secret;
use serde_json::{Value, json};

use super::{ALICE, Stage, answer, with_token};
use crate::app::{Older, TestApp, call, get, within};

/// Runs `lyceum index-library` with that configuration; returns the folder of the files.
fn index_library(folder: &Path, tables: &str) -> std::path::PathBuf {
    let (config, out) = (folder.join("lyceum.toml"), folder.join("dist"));
    fs::write(&config, tables).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
    command.args(["index-library", "--config"]).arg(&config).arg("--out").arg(&out);
    command.env("LYCEUM_DATA_DIR", folder.join("indexing"));
    let output = command.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{} {}", said(&output.stdout), said(&output.stderr));
    out
}

fn read(folder: &Path, part: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.join(format!("{part}-index.json"))).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn req_build_001_both_repositories_are_cloned_and_three_files_written() {
    let stage = Stage::new().await;
    let out = index_library(stage.folder.path(), &stage.tables());
    assert_eq!(read(&out, "skills")[1]["name"], "pdf");
    assert_eq!(read(&out, "agents")[1]["name"], "reviewer");
    assert_eq!(read(&out, "docs")["guides"]["setup"], "How to set up");
    assert_eq!(stage.github.requests(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn req_build_002_without_frontmatter_it_is_the_file_name_and_null() {
    let stage = Stage::new().await;
    stage.write_skill("skills/broken/SKILL.md", "---\nname: [\n---\n");
    stage.skills.publish().await.unwrap();
    let out = index_library(stage.folder.path(), &stage.tables());
    let (skills, agents) = (read(&out, "skills"), read(&out, "agents"));
    for (entry, name) in [(&skills[0], "bare"), (&skills[1], "broken"), (&agents[0], "plain")] {
        assert_eq!((&entry["name"], &entry["description"]), (&json!(name), &Value::Null), "{entry}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn req_build_003_files_are_all_others_of_the_folder() {
    let stage = Stage::new().await;
    stage.write_skill("skills/pdf/a/b/c.txt", "");
    stage.write_skill("skills/pdf-2/x.md", "");
    stage.skills.publish().await.unwrap();
    let out = index_library(stage.folder.path(), &stage.tables());
    assert_eq!(read(&out, "skills")[1]["files"], json!(["a/b/c.txt", "reference.md", "scripts/fill.py"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn req_build_004_docs_are_md_and_mdx() {
    let stage = Stage::new().await;
    let out = index_library(stage.folder.path(), &stage.tables());
    assert_eq!(
        read(&out, "docs")["guides"],
        json!({ "index": "All guides", "setup": "How to set up", "tour": "A tour" })
    );
}

#[test]
fn req_build_005_the_workflow_has_its_three_triggers() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/library-ci/index-library.yml");
    let text = fs::read_to_string(file).unwrap();
    let workflow: Value = lyceum_content::frontmatter::yaml_value(&text).unwrap();
    let on = &workflow["on"];
    assert_eq!(on["push"]["branches"], json!(["main"]));
    assert_eq!(on["schedule"], json!([{ "cron": "0 7 * * 6" }]));
    assert!(on.as_object().unwrap().contains_key("workflow_dispatch"));
    assert_eq!(on.as_object().unwrap().len(), 3);
    assert!(text.contains("index-library --config lyceum.toml --out dist"));
}

#[tokio::test(flavor = "multi_thread")]
async fn req_build_006_the_files_are_what_a_server_lists() {
    let stage = Stage::new().await;
    let out = index_library(stage.folder.path(), &stage.tables());
    let app = stage.start().await;
    for (part, tool) in [("skills", "list_skills"), ("agents", "list_agents"), ("docs", "list_docs")] {
        assert_eq!(read(&out, part), answer(&app, tool, json!({})).await, "{part}");
    }
}

#[tokio::test]
async fn req_infra_002_mcp_is_served_over_http_with_sse() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let mut request = with_token(call("get_skill", &json!({ "name": "pdf" })), ALICE);
    request.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let streamed = app.send(request).await;
    assert_eq!(streamed.header("content-type"), "text/event-stream");
    assert_eq!(streamed.result()["structuredContent"]["name"], "pdf");
    let opened = app.send(with_token(Older::initialize("2025-06-18", &json!({})), ALICE)).await;
    assert_eq!(opened.status, 200);
}

#[test]
fn req_infra_003_branch_protection_is_a_file() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/library-ci/branch-protection.json");
    let rules: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    // The four fields that GitHub's API requires, and what they are for.
    for key in ["required_status_checks", "enforce_admins", "required_pull_request_reviews", "restrictions"] {
        assert!(rules.as_object().unwrap().contains_key(key), "{key}");
    }
    assert_eq!((&rules["allow_force_pushes"], &rules["allow_deletions"]), (&json!(false), &json!(false)));
    assert_eq!(rules["required_status_checks"]["contexts"], json!(["index"]), "the job of the workflow");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_exported_for_an_assistant_and_nothing_is_overwritten() {
    let stage = Stage::new().await;
    let folder = stage.folder.path();
    fs::write(folder.join("lyceum.toml"), stage.tables()).unwrap();
    let export = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lyceum"));
        command.args(["agents", "export", "--for", "codex", "--config", "lyceum.toml"]).args(more);
        command.current_dir(folder).env("LYCEUM_DATA_DIR", folder.join("indexing"));
        command.output().unwrap()
    };
    let done = export(&[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let file = folder.join(".codex/agents/reviewer.toml");
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.contains("developer_instructions = \"Review it.\""), "{written}");
    assert!(export(&[]).status.success(), "the same again");
    fs::write(&file, "mine").unwrap();
    let refused = export(&[]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("exists and differs"), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(export(&["--force"]).status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
}

#[tokio::test]
async fn a_push_updates_the_lists_of_a_running_server() {
    const SECRET: &str = "It's a Secret to Everybody";
    let stage = Stage::new().await;
    let app = TestApp::product_with(&stage.tables(), |config| {
        // As if webhook_secret_env named a variable.
        let secret = Secret::for_signature(SECRET);
        let set = |source: &mut lyceum::config::Source| {
            if let Location::Repository(repository) = &mut source.location {
                repository.webhook_secret.clone_from(&secret);
            }
        };
        config.sources.iter_mut().for_each(set);
        for declared in &mut config.services {
            let mut library = declared.settings::<LibraryService>().unwrap().clone();
            library.parts.values_mut().for_each(|part| set(&mut part.source));
            declared.settings = Arc::new(library);
        }
    })
    .await;
    within("the library is indexed", async { while app.send(get("/readyz")).await.status != 200 {} }).await;
    stage.git.set_webhook(&format!("http://{}/webhooks/github", app.addr), SECRET);
    stage.write_skill("skills/new/SKILL.md", "---\nname: new\n---\n");
    stage.skills.publish().await.unwrap();
    within("the new skill is listed", async {
        while answer(&app, "list_skills", json!({})).await.as_array().unwrap().len() != 3 {}
    })
    .await;
}
