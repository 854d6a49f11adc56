//! Resources: lists, the four specified ones, and templates for documents and terms.

use serde_json::{Value, json};

use super::base::{Base, HIDDEN, ask, both, both_refuse};

#[tokio::test]
async fn resources_and_templates_are_listed_in_both_eras() {
    let base = Base::new();
    let app = base.served().await;
    let listed = both(&app, "resources/list", json!({})).await;
    let told: Vec<Value> = (listed["resources"].as_array().unwrap().iter())
        .map(|one| json!([one["uri"], one["name"], one["description"], one["mimeType"]]))
        .collect();
    let host = "mcp://superbenefit";
    let expected = json!([
        [
            format!("{host}/data/groups"),
            "data/groups",
            "List of SuperBenefit groups with metadata",
            "application/json"
        ],
        [
            format!("{host}/data/ontology"),
            "data/ontology",
            "Content type hierarchy and metadata schema documentation",
            "application/json"
        ],
        [
            format!("{host}/data/releases"),
            "data/releases",
            "List of releases with metadata",
            "application/json"
        ],
        [
            format!("{host}/prompts/knowledge-search"),
            "prompts/knowledge-search",
            "System prompt optimized for SuperBenefit knowledge base search",
            "text/plain"
        ],
    ]);
    assert_eq!(Value::from(told), expected);
    let templates = both(&app, "resources/templates/list", json!({})).await;
    let told: Vec<Value> = (templates["resourceTemplates"].as_array().unwrap().iter())
        .map(|one| json!([one["uriTemplate"], one["name"], one["mimeType"]]))
        .collect();
    let expected = json!([
        [format!("{host}/content/{{contentType}}/{{id}}"), "content", "text/markdown"],
        [format!("{host}/lexicon/{{term}}"), "lexicon", "text/markdown"],
    ]);
    assert_eq!(Value::from(told), expected);
    app.stop().await;
}

#[tokio::test]
async fn every_resource_can_be_read_in_both_eras() {
    let base = Base::new();
    let app = base.served().await;
    let listed = both(&app, "resources/list", json!({})).await;
    for one in listed["resources"].as_array().unwrap() {
        let read = both(&app, "resources/read", json!({ "uri": one["uri"] })).await;
        let contents = &read["contents"][0];
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&one["uri"], &one["mimeType"]));
        let text = contents["text"].as_str().unwrap();
        assert!(!text.to_lowercase().contains(HIDDEN), "{one}");
        let tool = match one["name"].as_str().unwrap() {
            "data/groups" => Some("list_groups"),
            "data/releases" => Some("list_releases"),
            _ => None,
        };
        if let Some(tool) = tool {
            let said: Value = serde_json::from_str(text).unwrap();
            assert_eq!(said, ask(&app, tool, &json!({})).await);
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn a_document_is_read_with_where_it_comes_from() {
    let base = Base::new();
    let app = base.served().await;
    let uri = "mcp://superbenefit/content/pattern/rotating-stewards";
    let read = both(&app, "resources/read", json!({ "uri": uri })).await;
    let contents = &read["contents"][0];
    let told = &contents["_meta"]["lyceum/provenance"];
    let arguments = json!({ "contentType": "pattern", "id": "rotating-stewards" });
    let document = ask(&app, "get_document", &arguments).await;
    for key in ["source", "path", "commit", "synced_at", "url"] {
        assert_eq!(told[key], document[key], "{key}");
    }
    let expected = format!(
        "---\nid: \"rotating-stewards\"\ncontentType: \"pattern\"\ntitle: \"Rotating stewards\"\nsource: \"kb\"\npath: \"artifacts/patterns/rotating-stewards.md\"\n\
         commit: {}\nsynced_at: {}\nurl: null\n---\n\n# Rotating stewards\n\nStewards change every season.\n",
        told["commit"], told["synced_at"]
    );
    assert_eq!((&contents["text"], &contents["mimeType"]), (&json!(expected), &json!("text/markdown")));
    app.stop().await;
}

#[tokio::test]
async fn a_term_is_read_by_any_of_its_names() {
    let base = Base::new();
    let app = base.served().await;
    for name in ["commons", "Commons", "common%20pool"] {
        let uri = format!("mcp://superbenefit/lexicon/{name}");
        let read = both(&app, "resources/read", json!({ "uri": uri })).await;
        let text = read["contents"][0]["text"].as_str().unwrap();
        assert!(text.ends_with("\n---\n\nA resource and those who care for it.\n"), "{text}");
        assert_eq!(read["contents"][0]["_meta"]["lyceum/provenance"]["path"], "tags/commons.md");
    }
    app.stop().await;
}

#[tokio::test]
async fn what_is_not_there_or_not_published_is_not_found() {
    let base = Base::new();
    let app = base.served().await;
    for place in [
        "content/pattern/nothing",
        "content/pattern/zanzibar",
        "content/tag/zanzibar-draft",
        "content/file/plain",
        "content/nothing/commons",
        "content/tag/..%2F..%2Fetc",
        "lexicon/zanzibar",
        "lexicon/zanzibar-alias",
        "data/nothing",
    ] {
        let params = json!({ "uri": format!("mcp://superbenefit/{place}") });
        both_refuse(&app, "resources/read", params, [-32602, -32002], "").await;
    }
    app.stop().await;
}
