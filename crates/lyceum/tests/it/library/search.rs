//! Search over what is listed, links to files at their commits, and suggestions for names that are not there.

use serde_json::json;

use super::{ALICE, BOB, PDF, Stage, answer, ask, failure};

#[tokio::test]
async fn everything_listed_is_found_and_each_result_can_be_read() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    for (query, name, tool) in [
        ("fill in a form", "pdf", "get_skill"),
        ("who reviews my change?", "reviewer", "get_agent"),
        ("setting up", "guides/setup", "get_doc"),
        ("bare", "bare", "get_skill"),
        ("tour", "guides/tour", "get_doc"),
    ] {
        let found = answer(&app, "search_library", json!({ "query": query })).await;
        let first = &found["results"][0];
        assert_eq!((&first["name"], &first["tool"]), (&json!(name), &json!(tool)), "{query}: {found}");
        let read = answer(&app, tool, first["arguments"].clone()).await;
        assert_eq!(first["url"], read["url"], "{query}");
    }
    let agents = answer(&app, "search_library", json!({ "query": "fill form", "kind": "agents" })).await;
    assert_eq!(agents, json!({ "results": [] }));
    let typo = answer(&app, "search_library", json!({ "query": "pfd" })).await;
    assert_eq!(typo, json!({ "results": [], "didYouMean": ["pdf"] }));
    let limited = answer(&app, "search_library", json!({ "query": "guides", "limit": 1 })).await;
    assert_eq!(limited["results"].as_array().unwrap().len(), 1);
    for bad in [json!({ "query": "" }), json!({ "query": "x", "kind": "pages" }), json!({})] {
        assert_eq!(failure(&app, ALICE, "search_library", bad).await["code"], "VALIDATION_ERROR");
    }
}

#[tokio::test]
async fn contents_are_not_searched_because_not_everyone_may_read_them() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    assert!(PDF.contains("Be careful"));
    for token in [ALICE, BOB] {
        let found = ask(&app, token, "search_library", json!({ "query": "careful" })).await.result();
        assert_eq!(found["structuredContent"], json!({ "results": [] }));
    }
    // Lists are for everyone who is let in, and so is their search.
    let found = ask(&app, BOB, "search_library", json!({ "query": "forms" })).await.result();
    assert_eq!(found["structuredContent"]["results"][0]["name"], "pdf");
    assert_eq!(stage.reads(), 0);
}

#[tokio::test]
async fn a_file_that_is_newer_than_the_lists_is_linked_on_its_branch() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let read = async || answer(&app, "get_skill", json!({ "name": "pdf", "skipCache": true })).await;
    let (commit, url) = stage.link("skills", "skills/pdf/SKILL.md");
    let before = read().await;
    assert_eq!((&before["commit"], &before["url"]), (&json!(commit), &json!(url)));
    stage.github.write("acme/skills", "skills/pdf/SKILL.md", "newer\n").unwrap();
    let after = read().await;
    assert_eq!(after.get("commit"), None, "{after}");
    assert_eq!(after["url"], url.replace(&commit, "main"), "{after}");
    let file = answer(&app, "get_skill_file", json!({ "skill": "pdf", "file": "reference.md" })).await;
    assert_eq!(file["url"], stage.link("skills", "skills/pdf/reference.md").1);
}

#[tokio::test]
async fn an_unknown_name_is_answered_with_similar_ones() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    for (tool, arguments, expected) in [
        ("get_skill", json!({ "name": "pfd" }), "did you mean pdf? list_skills lists all"),
        ("get_skill_file", json!({ "skill": "pfd", "file": "reference.md" }), "did you mean pdf?"),
        ("get_skill_file", json!({ "skill": "pdf", "file": "referense.md" }), "did you mean reference.md?"),
        ("get_agent", json!({ "name": "reviewr" }), "did you mean reviewer? list_agents lists all"),
        ("get_doc", json!({ "path": ["guides", "setpu"] }), "did you mean guides/setup, "),
        ("list_docs", json!({ "path": ["guide"] }), "did you mean guides? leave path out to see all docs"),
    ] {
        let error = failure(&app, ALICE, tool, arguments).await;
        assert_eq!(error["code"], "NOT_FOUND", "{error}");
        assert!(error["message"].as_str().unwrap().contains(expected), "{tool}: {error}");
    }
}
