//! The `Service` trait: a service defined here, and two knowledge bases in one server.

mod greeter;

use std::{fs, path::Path};

use lyceum::{
    App, KINDS,
    config::{AuthMode, AuthService, Config, Oauth},
};
use lyceum_auth::{ApiKey, DEFAULT_ROLES_TTL, Guard};
use lyceum_model::Tier;
use serde_json::json;

use crate::app::{TestApp, call, get, modern, within};
use greeter::GREETER;

/// The configuration of a server with the test service in addition to the built-in ones.
fn config(folder: &Path, tables: &str) -> Config {
    let text = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\ndata_dir = {:?}\n[search.embedder]\nkind = \"none\"\n{tables}",
        folder.join("data")
    );
    let kinds: Vec<_> = KINDS.into_iter().chain([&GREETER]).collect();
    Config::from_text_with(Path::new("lyceum.toml"), &text, &kinds).unwrap()
}

fn started(config: Config, addr: std::net::SocketAddr) -> App {
    let app = App::new(config, addr).unwrap();
    app.start();
    app
}

#[tokio::test]
async fn a_service_is_its_file_a_line_in_the_list_and_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let tables = "[greeter]\ngreeting = \"Ahoy\"\n[greeter.formal]\ngreeting = \"Good day\"\n";
    let app = TestApp::serve(config(folder.path(), tables), started).await;

    let said = async |path: &str, name| {
        let mut request = call(name, &json!({ "name": "Ada" }));
        *request.uri_mut() = path.parse().unwrap();
        app.send(request).await.result()["structuredContent"]["text"].clone()
    };
    assert_eq!(said("/mcp", "greet").await, "Ahoy, Ada");
    assert_eq!(said("/greeter/mcp", "greet").await, "Ahoy, Ada");
    assert_eq!(said("/mcp", "formal_greet").await, "Good day, Ada");
    assert_eq!(said("/formal/mcp", "formal_greet").await, "Good day, Ada");

    assert_eq!(app.send(get("/greeter/hello")).await.text(), "Ahoy");
    assert_eq!(app.send(get("/formal/hello")).await.text(), "Good day");
    let health = app.send(get("/health")).await.json();
    assert_eq!(health["services"]["formal"], "ok", "{health}");
    assert_eq!(health["greeter"], json!({ "greeting": "Ahoy" }));
    let ready = app.send(get("/readyz")).await.json();
    assert_eq!((&ready["ready"], &ready["greets"]), (&json!(true), &json!(true)), "{ready}");
    assert!(app.send(get("/")).await.text().contains("It greets with Ahoy."));
    let metrics = app.send(get("/metrics")).await;
    let metrics = metrics.text();
    assert!(metrics.contains("lyceum_service_healthy{service=\"greeter\"} 1"), "{metrics}");
}

#[tokio::test]
async fn the_routes_of_a_service_are_closed_unless_it_opens_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path(), "[greeter]\ngreeting = \"Ahoy\"\n");
    let oauth = Oauth {
        mode: AuthMode::ApiKey,
        roles_good_for: DEFAULT_ROLES_TTL,
        waap: None,
        anonymous: false,
        key: None,
        chains: Vec::new(),
        hats: None,
        names: None,
        github: None,
        keys: vec![ApiKey { name: "ada".to_owned(), hash: [0; 32], tier: Tier::Member }],
        clients: Vec::new(),
        guard: Guard::default(),
    };
    config.auth = AuthService::Gated(Box::new(oauth));
    let app = TestApp::serve(config, started).await;
    assert_eq!(app.send(get("/greeter/hello")).await.status, 401);
    assert_eq!(app.send(get("/greeter/version")).await.status, 200, "the service says that anyone may call");
}

#[tokio::test]
async fn two_knowledge_bases_are_served_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    for (name, word) in [("kb", "heron"), ("docs", "otter")] {
        let path = folder.path().join(name).join("tags");
        fs::create_dir_all(&path).unwrap();
        let text =
            format!("---\ntitle: {word}\npublish: true\ntype: tag\n---\nThe {word} lives by the river.\n");
        fs::write(path.join(format!("{word}.md")), text).unwrap();
    }
    let source =
        |name: &str| format!("[[source]]\nname = \"{name}\"\npath = {:?}\n", folder.path().join(name));
    let tables = format!(
        "{}{}[knowledge]\nsource = \"kb\"\n[knowledge.docs]\nsource = \"docs\"\ntitle = \"Docs\"\n",
        source("kb"),
        source("docs")
    );
    let app = TestApp::serve(config(folder.path(), &tables), started).await;
    let ready = async || app.send(get("/readyz")).await.status == 200;
    within("both are read", async { while !ready().await {} }).await;

    let entries = async |path| app.send(get(path)).await.json()["entries"][0]["id"].clone();
    assert_eq!(entries("/api/v1/entries").await, "heron");
    assert_eq!(entries("/docs/api/v1/entries").await, "otter");
    assert!(app.send(get("/docs/llms.txt")).await.text().contains("/docs/api/v1/entries/tag/otter"));
    let paths = app.send(get("/docs/api/v1/openapi.json")).await.json()["paths"].clone();
    assert!(paths.get("/docs/api/v1/search").is_some(), "{paths}");

    let found = async |tool, word: &str| {
        let answer = app.send(call(tool, &json!({ "query": word }))).await.result();
        let results = answer["structuredContent"]["results"].as_array().cloned();
        let ids = results.unwrap_or_else(|| panic!("{answer}")).into_iter().map(|one| one["id"].clone());
        ids.collect::<Vec<_>>()
    };
    within("the documents are indexed", async {
        while found("search_knowledge", "river").await != ["heron"] {}
        while found("docs_search_knowledge", "river").await != ["otter"] {}
    })
    .await;
    check_search_everything(&app).await;
    let health = app.send(get("/health")).await.json();
    assert_eq!(
        (&health["knowledge"]["documents"], &health["docs"]["documents"]),
        (&json!(1), &json!(1)),
        "{health}"
    );
    assert!(health["search"].is_object() && health["docs-search"].is_object(), "{health}");
}

/// One search over both knowledge bases, and over one of them by its source.
async fn check_search_everything(app: &TestApp) {
    let answer = async |filters| {
        let arguments = json!({ "query": "who lives by the river", "filters": filters });
        app.send(call("search_everything", &arguments)).await.result()
    };
    let found = async |filters| {
        let answer = answer(filters).await;
        let results = answer["structuredContent"]["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let mut found: Vec<_> = (results.iter())
            .map(|one| {
                [&one["id"], &one["service"], &one["source"], &one["documentTool"]]
                    .map(|v| v.as_str().unwrap().to_owned())
            })
            .collect();
        found.sort();
        found
    };
    let heron = ["heron", "knowledge", "kb", "get_document"].map(str::to_owned);
    let otter = ["otter", "docs", "docs", "docs_get_document"].map(str::to_owned);
    assert_eq!(found(json!({})).await, [heron.clone(), otter.clone()]);
    assert_eq!(found(json!({ "source": "docs" })).await, [otter]);
    assert_eq!(found(json!({ "source": "kb" })).await, [heron]);
    let refused = answer(json!({ "source": "nope" })).await;
    assert!(refused.to_string().contains("unknown source \\\"nope\\\"; write one of docs, kb"), "{refused}");
}

#[tokio::test]
async fn two_sets_of_skills_are_served_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    for (name, skill) in [("ours", "heron"), ("theirs", "otter")] {
        let path = folder.path().join(name).join(skill);
        fs::create_dir_all(&path).unwrap();
        let text = format!("---\nname: {skill}\ndescription: Watch the {skill}.\n---\nSit still.\n");
        fs::write(path.join("SKILL.md"), text).unwrap();
    }
    let source =
        |name: &str| format!("[[source]]\nname = \"{name}\"\npath = {:?}\n", folder.path().join(name));
    let tables = format!(
        "{}{}[skills]\nsource = \"ours\"\n[skills.theirs]\nsource = \"theirs\"\n",
        source("ours"),
        source("theirs")
    );
    let app = TestApp::serve(config(folder.path(), &tables), started).await;

    let best = async |tool: &str| {
        let answer =
            app.send(call(tool, &json!({ "context": "watch the heron or the otter" }))).await.result();
        answer["structuredContent"].to_string()
    };
    assert!(best("get_skill").await.contains("heron"), "{}", best("get_skill").await);
    assert!(best("theirs_get_skill").await.contains("otter"), "{}", best("theirs_get_skill").await);
    let listed = app.send(modern("resources/list", &json!({}))).await.result().to_string();
    assert!(
        listed.contains("skill://heron/SKILL.md") && listed.contains("skill://theirs/otter/SKILL.md"),
        "{listed}"
    );
    for uri in ["skill://heron/SKILL.md", "skill://theirs/otter/SKILL.md"] {
        let read = app.send(modern("resources/read", &json!({ "uri": uri }))).await.result().to_string();
        assert!(read.contains("Sit still."), "{uri}: {read}");
    }
    let at = async |path: &str| {
        let mut request = modern("skills/list", &json!({}));
        *request.uri_mut() = path.parse().unwrap();
        app.send(request).await.result().to_string()
    };
    assert!(at("/theirs/mcp").await.contains("skill://theirs/otter/SKILL.md"));
    assert!(!at("/theirs/mcp").await.contains("heron"));
    let first = app.send(modern("skills/list", &json!({}))).await.result();
    assert_eq!(first["skills"][0]["uri"], "skill://heron/SKILL.md", "{first}");
    let second = app.send(modern("skills/list", &json!({ "cursor": first["nextCursor"] }))).await.result();
    assert_eq!(second["skills"][0]["uri"], "skill://theirs/otter/SKILL.md", "{second}");
    assert_eq!(second.get("nextCursor"), None, "{second}");
    for uri in ["skill://heron/SKILL.md", "skill://theirs/otter/SKILL.md"] {
        let skill = app.send(modern("skills/get", &json!({ "uri": uri }))).await.result();
        assert_eq!(skill["skill"]["uri"], uri, "{skill}");
    }
}
