//! `GET /api/v1/openapi.json`: the description matches the API.

use serde_json::{Value, json};

use super::base::{Base, by, with};
use crate::app::{Request, TestApp, get, post};

fn committed() -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap_or_default()).unwrap_or_default()
}

#[tokio::test]
async fn the_committed_description_is_the_one_that_is_served() {
    let app = Base::example().served().await;
    let answer = app.send(get("/api/v1/openapi.json")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert!(
        answer.json() == committed(),
        "the API changed; update its description with: cargo run -p lyceum -- openapi > docs/openapi.json"
    );
    app.stop().await;
}

#[tokio::test]
async fn the_types_are_those_of_the_deployment() {
    let base = Base::of(&[("recipes/bread.md", "---\ntitle: Bread\npublish: true\n---\nFlour.\n")]);
    let folder = tempfile::tempdir().unwrap();
    let types = "[[type]]\nname = \"file\"\nfields.publish = { kind = \"bool\" }\n[[type]]\nname = \"recipe\"\nfolders = [\"recipes\"]\n";
    let file = folder.path().join("types.toml");
    std::fs::write(&file, types).unwrap();
    let tables = format!("{}ontology = {file:?}\n", base.tables());
    let app = TestApp::product_of(&tables).await;
    let served = app.send(get("/api/v1/openapi.json")).await.json();
    assert_eq!(served["components"]["schemas"]["ContentType"]["enum"], json!(["file", "recipe"]));
    assert_eq!(app.send(get("/api/v1/entries/recipe/bread")).await.status, 200);
    assert_eq!(app.send(get("/api/v1/entries?contentType=tag")).await.status, 400);
    app.stop().await;
}

/// Checks that a response matches the description.
async fn check_described(app: &TestApp, served: &Value, path: &str, request: Request) {
    let method = request.method().as_str().to_lowercase();
    let target = request.uri().to_string();
    let answer = app.send(request).await;
    let response = &served["paths"][path][&method]["responses"][answer.status.to_string()];
    assert!(response.is_object(), "{target}: {} is not described", answer.status);
    for (name, _) in response["headers"].as_object().into_iter().flatten() {
        assert!(answer.headers.contains_key(name), "{target}: no {name}");
    }
    let Some(contents) = response["content"].as_object() else {
        assert_eq!(answer.text(), "", "{target}");
        return;
    };
    let kind = answer.header("content-type").split(';').next().unwrap_or_default().to_owned();
    let mut schema =
        contents.get(&kind).unwrap_or_else(|| panic!("{target}: {kind} is not described"))["schema"].clone();
    let body = if kind == "application/json" { answer.json() } else { answer.text().into() };
    schema["components"] = served["components"].clone();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let faults: Vec<String> = schema.iter_errors(&body).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{target}: {faults:?}");
}

#[tokio::test]
async fn answers_are_as_described() {
    let app = Base::example().served().await;
    let served = app.send(get("/api/v1/openapi.json")).await.json();
    let (list, entry) = ("/api/v1/entries", "/api/v1/entries/{contentType}/{id}");
    for query in ["", "?limit=1", "?contentType=tag", "?offset=100", "?limit=0", "?contentType=x", "?tag="] {
        check_described(&app, &served, list, get(&format!("/api/v1/entries{query}"))).await;
    }
    for path in ["tag/dao", "article/odd", "project/harbour", "tag/nothing", "nothing/dao"] {
        for accept in ["application/json", "text/markdown", "text/plain"] {
            let request = with(get(&format!("/api/v1/entries/{path}")), "accept", accept);
            check_described(&app, &served, entry, request).await;
        }
    }
    for path in ["/api/v1/openapi.json", "/llms.txt", list] {
        check_described(&app, &served, path, get(path)).await;
        check_described(&app, &served, path, with(get(path), "if-none-match", "*")).await;
        check_described(&app, &served, path, with(get(path), "host", "evil.example")).await;
    }
    let search = "/api/v1/search";
    for query in ["?q=dao&explain=true&facets=true", "?q=zyxw", "?q=", "", "?q=a&limit=0", "?q=a&mode=x"] {
        check_described(&app, &served, search, get(&format!("{search}{query}"))).await;
    }
    let sync = "/api/v1/sources/{name}/sync";
    check_described(&app, &served, sync, post("/api/v1/sources/kb/sync", "")).await;
    check_described(&app, &served, sync, post("/api/v1/sources/nothing/sync", "")).await;
    app.stop().await;
}

#[tokio::test]
async fn every_route_is_described_and_every_description_has_its_route() {
    let app = Base::example().served().await;
    let served = app.send(get("/api/v1/openapi.json")).await.json();
    let mut ids = std::collections::BTreeSet::new();
    for (path, operations) in served["paths"].as_object().unwrap() {
        let target = path.replace("{contentType}", "tag").replace("{id}", "dao").replace("{name}", "kb");
        let target = if path.ends_with("/search") { format!("{target}?q=dao") } else { target };
        for (method, operation) in operations.as_object().unwrap() {
            let status = app.send(by(&method.to_uppercase(), get(&target))).await.status;
            // The example has no drafts.
            let expected = if path.ends_with("/drafts") { 404 } else { 200 };
            assert_eq!(status, expected, "{method} {target}");
            assert!(ids.insert(operation["operationId"].to_string()), "{operation}");
            let in_path =
                operation["parameters"].as_array().unwrap().iter().filter(|one| one["in"] == "path");
            assert!(in_path.clone().all(|one| one["required"] == true));
            assert_eq!(in_path.count(), path.matches('{').count(), "{path}");
            let in_query =
                operation["parameters"].as_array().unwrap().iter().filter(|one| one["in"] == "query");
            for one in in_query {
                assert_eq!(one["required"], one["name"] == "q", "{path}: {one}");
            }
        }
    }
    assert_eq!(ids.len(), 7);
    app.stop().await;
}
