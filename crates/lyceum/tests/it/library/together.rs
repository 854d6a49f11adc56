//! The library alone, beside the skills service on one URL, and with the server's own copy.

use std::fs;

use lyceum::{App, StartError};
use serde_json::json;

use super::{ALICE, Stage, answer, with_token};
use crate::app::{TestApp, call, get, modern, within};

async fn tools(app: &TestApp, path: &str) -> Vec<String> {
    let mut request = with_token(modern("tools/list", &json!({})), ALICE);
    *request.uri_mut() = path.parse().unwrap();
    let listed = app.send(request).await.result();
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn alone_it_is_at_mcp_and_at_its_own_path() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let own = [
        "get_agent",
        "get_doc",
        "get_skill",
        "get_skill_file",
        "list_agents",
        "list_docs",
        "list_skills",
        "search_library",
    ];
    assert_eq!(tools(&app, "/library/mcp").await, own);
    let all = tools(&app, "/mcp").await;
    assert!(own.iter().all(|name| all.iter().any(|tool| tool == name)), "{all:?}");
}

#[tokio::test]
async fn beside_the_skills_service_one_of_them_needs_a_prefix() {
    let stage = Stage::new().await;
    let both = format!("{}[skills]\nsource = \"skills\"\npath = \"skills\"\n", stage.tables());
    let config = lyceum::config::Config::from_text("lyceum.toml".as_ref(), &both).unwrap();
    let refused = App::new(config, "127.0.0.1:1".parse().unwrap()).err();
    let Some(StartError::Registry(error)) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("[library]\n    prefix = \"library_\""), "{error}");

    let prefixed = both.replace("[library]\n", "[library]\nprefix = \"library_\"\n");
    let app = stage.start_with(&prefixed).await;
    let skill = answer(&app, "library_get_skill", json!({ "name": "pdf" })).await;
    assert_eq!(skill["path"], "skills/pdf/SKILL.md");
    let found = answer(&app, "library_search_library", json!({ "query": "forms" })).await;
    assert_eq!(found["results"][0]["tool"], "library_get_skill", "{found}");
    let routed = answer(&app, "get_skill", json!({ "context": "fill in forms" })).await;
    assert_eq!(routed["skill_path"], "pdf", "{routed}");
    let missing = app.send(with_token(call("library_get_skill", &json!({ "name": "nope" })), ALICE)).await;
    assert!(missing.text().contains("library_list_skills lists all"), "{}", missing.text());
}

#[tokio::test]
async fn the_servers_own_copy_is_read_without_a_token_if_the_operator_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join("kb").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".claude/skills/pdf/SKILL.md", "---\nname: pdf\n---\nOne\n");
    write(".claude/agents/reviewer.md", "Review.\n");
    write("docs/guide.mdx", "# Guide\n");
    for path in [
        "secret/notes.txt",
        "secret.md",
        "docs/.hidden/page.md",
        ".claude/skills/secret/notes.txt",
        ".claude/secret.md",
    ] {
        write(path, "plugh\n");
    }
    let tables = format!(
        "[[source]]\nname = \"kb\"\npath = {:?}\n[library]\nread = \"server\"\nskills = {{ source = \"kb\" }}\n\
         agents = {{ source = \"kb\" }}\ndocs = {{ source = \"kb\" }}\n",
        folder.path().join("kb")
    );
    let app = TestApp::product_of(&tables).await;
    let read = async |tool: &str, arguments| {
        app.send(call(tool, &arguments)).await.result()["structuredContent"].clone()
    };
    assert_eq!(read("get_skill", json!({ "name": "pdf" })).await["path"], ".claude/skills/pdf/SKILL.md");
    assert_eq!(read("get_agent", json!({ "name": "reviewer" })).await["content"], "Review.\n");
    assert_eq!(read("get_doc", json!({ "path": ["guide"] })).await["filePath"], "docs/guide.mdx");
    let missing = app.send(call("get_skill", &json!({ "name": "nope" }))).await.result();
    assert!(missing["content"][0]["text"].as_str().unwrap().contains("\"NOT_FOUND\""), "{missing}");
    // What is not listed is not served, though the server has it.
    for (tool, arguments) in [
        ("get_skill_file", json!({ "skill": "secret", "file": "notes.txt" })),
        ("get_skill_file", json!({ "skill": "pdf", "file": "nope.txt" })),
        ("get_agent", json!({ "name": "secret" })),
        ("get_doc", json!({ "path": [".hidden", "page"] })),
        ("get_doc", json!({ "path": ["secret"] })),
    ] {
        let refused = app.send(call(tool, &arguments)).await.result();
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("\"NOT_FOUND\"") && !text.contains("plugh"), "{tool} {text}");
    }
    let health = app.send(get("/health")).await.json();
    assert_eq!(health["services"]["library"], "ok", "{health}");
    assert_eq!(health["library"], json!({ "skills": 1, "agents": 1, "docs": 1 }), "{health}");
    assert_eq!(health["sources"][0]["state"], "ready", "{health}");
    assert!(app.send(get("/")).await.text().contains("Library library: 1 agents, 1 docs, 1 skills"));
    // An edit is served at once.
    write(".claude/skills/new/SKILL.md", "Two\n");
    within("the new skill is listed", async {
        while read("list_skills", json!({})).await.as_array().unwrap().len() != 2 {}
    })
    .await;
}
