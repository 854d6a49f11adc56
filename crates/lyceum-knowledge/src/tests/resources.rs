//! Resources: the four of the specification, and documents and terms by URI.

use lyceum_tools::mcp::{list_resources, list_templates};
use serde_json::{Value, json};

use super::base::{Base, document};

async fn base() -> Base {
    Base::of(&[
        ("tags/gift-economy.md", &document("Gift economy", "aliases: [gifting]\n", "Giving: \"freely\".")),
        ("tags/commons.md", &document("Commons", "", "Shared.")),
        (
            "artifacts/patterns/gift-circle.md",
            &document("Gift circle", "group: cell-a\nrelease: one\n", "Sit."),
        ),
        ("artifacts/practices/check-in.md", &document("Check-in", "", "Speak.")),
        ("drafts/gift.md", &document("Gift draft", "draft: true\n", "Not yet.")),
        ("tags/gift-hidden.md", "---\ntitle: Gift hidden\ndate: 2025-01-01\n---\n\nNo.\n"),
    ])
    .await
}

#[tokio::test]
async fn the_four_resources_are_those_of_the_document() {
    let base = base().await;
    let listed = serde_json::to_value(list_resources(&base.view, None).unwrap().resources).unwrap();
    let expected = json!([
        {
            "uri": "mcp://superbenefit/data/groups",
            "name": "data/groups",
            "description": "List of SuperBenefit groups with metadata",
            "mimeType": "application/json",
        },
        {
            "uri": "mcp://superbenefit/data/ontology",
            "name": "data/ontology",
            "description": "Content type hierarchy and metadata schema documentation",
            "mimeType": "application/json",
        },
        {
            "uri": "mcp://superbenefit/data/releases",
            "name": "data/releases",
            "description": "List of releases with metadata",
            "mimeType": "application/json",
        },
        {
            "uri": "mcp://superbenefit/prompts/knowledge-search",
            "name": "prompts/knowledge-search",
            "description": "System prompt optimized for SuperBenefit knowledge base search",
            "mimeType": "text/plain",
        },
    ]);
    assert_eq!(listed, expected);
    let templates =
        serde_json::to_value(list_templates(&base.view, None).unwrap().resource_templates).unwrap();
    let uris: Vec<&str> =
        templates.as_array().unwrap().iter().map(|one| one["uriTemplate"].as_str().unwrap()).collect();
    assert_eq!(uris, ["mcp://superbenefit/content/{contentType}/{id}", "mcp://superbenefit/lexicon/{term}"]);
}

#[tokio::test]
async fn lists_say_what_the_tools_say() {
    let base = base().await;
    for (uri, tool) in [
        ("mcp://superbenefit/data/groups", "list_groups"),
        ("mcp://superbenefit/data/releases", "list_releases"),
    ] {
        let contents = base.read(uri).await.unwrap();
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("application/json")));
        let list: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert_eq!(list, base.ask(tool, json!({})).await);
        assert_eq!(list["total"], 1);
    }
}

#[tokio::test]
async fn the_ontology_has_every_type_with_its_fields() {
    let contents = base().await.read("mcp://superbenefit/data/ontology").await.unwrap();
    let ontology: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
    let types = ontology["types"].as_array().unwrap();
    assert_eq!((types.len(), &ontology["root"]), (21, &json!("file")));
    let question = types.iter().find(|one| one["name"] == "question").unwrap();
    assert_eq!(
        (&question["parent"], &question["folders"]),
        (&json!("resource"), &json!(["artifacts/questions"]))
    );
    assert_eq!(
        question["fields"]["status"],
        json!({ "kind": "choice", "required": false, "of": ["open", "exploring", "resolved"] })
    );
    assert_eq!(question["fields"]["title"], json!({ "kind": "text", "required": true }));
    let story = types.iter().find(|one| one["name"] == "story").unwrap();
    assert_eq!((&story["parentOnly"], &story["children"]), (&json!(true), &json!(["article", "study"])));
}

#[tokio::test]
async fn the_system_prompt_is_about_this_base_and_the_tools_there_are() {
    let base = base().await;
    let contents = base.read("mcp://superbenefit/prompts/knowledge-search").await.unwrap();
    let text = contents["text"].as_str().unwrap();
    assert_eq!(contents["mimeType"], "text/plain");
    assert!(text.contains("the SuperBenefit knowledge base") && !text.contains('{'), "{text}");
    for tool in ["define_term", "search_lexicon", "list_groups", "list_releases", "get_document"] {
        assert!(text.contains(tool) && base.view.has_tool(tool), "{tool}");
    }
}

/// Checks that a URI is a document, and which one.
async fn check(base: &Base, uri: &str, title: &str, path: &str, body: &str) {
    let contents = base.read(uri).await.unwrap();
    assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("text/markdown")));
    let provenance = &contents["_meta"]["lyceum/provenance"];
    let (commit, synced) =
        (provenance["commit"].as_str().unwrap(), provenance["synced_at"].as_str().unwrap());
    let expected = format!(
        "\ntitle: \"{title}\"\nsource: \"kb\"\npath: \"{path}\"\ncommit: \"{commit}\"\nsynced_at: \"{synced}\"\n\
         url: null\n---\n\n{body}\n"
    );
    let text = contents["text"].as_str().unwrap();
    assert!(text.starts_with("---\nid: ") && text.ends_with(&expected), "{text}");
    assert_eq!(
        provenance,
        &json!({ "source": "kb", "path": path, "commit": commit, "synced_at": synced, "url": null })
    );
}

#[tokio::test]
async fn documents_and_terms_are_read_by_their_addresses() {
    let base = base().await;
    let host = "mcp://superbenefit";
    let circle = "artifacts/patterns/gift-circle.md";
    check(&base, &format!("{host}/content/pattern/gift-circle"), "Gift circle", circle, "Sit.").await;
    let (gift, giving) = ("tags/gift-economy.md", "Giving: \"freely\".");
    for uri in
        ["content/tag/gift-economy", "lexicon/gift-economy", "lexicon/Gift%20economy", "lexicon/gifting"]
    {
        check(&base, &format!("{host}/{uri}"), "Gift economy", gift, giving).await;
    }
}

#[tokio::test]
async fn what_is_not_published_has_no_address() {
    let base = base().await;
    for path in [
        "content/file/gift",
        "content/tag/gift-hidden",
        "content/pattern/nothing",
        "content/pattern/",
        "content/pattern/gift-circle/more",
        "content/pattern/%67ift-circle",
        "lexicon/gift-hidden",
        "lexicon/%FF",
        "lexicon/",
        "data/nothing",
    ] {
        let uri = format!("mcp://superbenefit/{path}");
        assert!(base.read(&uri).await.is_err(), "{uri}");
    }
    assert!(base.read("mcp://elsewhere/content/pattern/gift-circle").await.is_err());
}

#[tokio::test]
async fn variables_are_completed_with_what_is_there() {
    let base = base().await;
    let content = json!({ "type": "ref/resource", "uri": "mcp://superbenefit/content/{contentType}/{id}" });
    let lexicon = json!({ "type": "ref/resource", "uri": "mcp://superbenefit/lexicon/{term}" });
    for (of, name, typed, expected) in [
        (&content, "contentType", "", json!(["pattern", "practice", "tag"])),
        (&content, "contentType", "pra", json!(["practice"])),
        (&content, "id", "gift", json!(["gift-circle", "gift-economy"])),
        (&content, "id", "c", json!(["check-in", "commons", "gift-circle", "gift-economy"])),
        (&lexicon, "term", "", json!(["Commons", "Gift economy"])),
        (&lexicon, "term", "eco", json!(["Gift economy"])),
        (&lexicon, "term", "draft", json!([])),
    ] {
        assert_eq!(base.complete(of, name, typed)["values"], expected, "{name} {typed:?}");
    }
}

#[tokio::test]
async fn a_hundred_ids_are_told_and_that_there_are_more() {
    let files: Vec<(String, String)> =
        (0..120).map(|n| (format!("tags/t{n:03}.md"), document(&format!("T {n}"), "", "x"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let base = Base::of(&files).await;
    let content = json!({ "type": "ref/resource", "uri": "mcp://superbenefit/content/{contentType}/{id}" });
    let completion = base.complete(&content, "id", "t");
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(120), &json!(true)));
}
