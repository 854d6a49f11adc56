//! REQ-DOC-*.

use serde_json::json;

use super::{ALICE, BOB, Stage, answer, failure, with_token};
use crate::app::modern;

#[tokio::test]
async fn req_doc_001_docs_are_a_tree_of_descriptions_without_asking_github() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let listed = answer(&app, "list_docs", json!({})).await;
    let guides = json!({ "index": "All guides", "setup": "How to set up", "tour": "A tour" });
    assert_eq!(listed, json!({ "index": "Home", "guides": guides }));
    assert_eq!(answer(&app, "list_docs", json!({ "path": ["guides"] })).await, guides);
    let error = failure(&app, ALICE, "list_docs", json!({ "path": ["nope"] })).await;
    assert_eq!(error["code"], "NOT_FOUND");
    assert_eq!(stage.reads(), 0);
}

#[tokio::test]
async fn req_doc_002_a_path_is_an_index_first_then_a_file_then_not_found() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let file =
        async |path: &[&str]| answer(&app, "get_doc", json!({ "path": path })).await["filePath"].clone();
    let asked = || {
        let root = "/repos/acme/site/contents/src/content/docs/";
        let asked = stage.github.contents_requests().into_iter();
        asked.map(|one| one.path.strip_prefix(root).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(file(&["guides"]).await, "src/content/docs/guides/index.md");
    assert_eq!(asked(), ["guides/index.md"]);
    assert_eq!(file(&["guides", "setup"]).await, "src/content/docs/guides/setup.md");
    assert_eq!(asked()[1..], ["guides/setup/index.md", "guides/setup.md"]);
    let error = failure(&app, ALICE, "get_doc", json!({ "path": ["guides", "nope"] })).await;
    assert_eq!((&error["code"], &error["details"]["githubStatus"]), (&json!("NOT_FOUND"), &json!(404)));
    assert_eq!(asked()[3..], ["guides/nope/index.md", "guides/nope.md"], "two requests, no more");
    // What the index lists can be read, also if it is .mdx.
    assert_eq!(file(&["guides", "tour"]).await, "src/content/docs/guides/tour.mdx");
    assert_eq!(file(&[]).await, "src/content/docs/index.md");
}

#[tokio::test]
async fn req_doc_003_a_page_is_plain_text_with_path_file_path_and_sha() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let page = answer(&app, "get_doc", json!({ "path": ["guides", "setup"] })).await;
    let file = "src/content/docs/guides/setup.md";
    let expected = json!({
        "path": ["guides", "setup"],
        "content": "---\ndescription: How to set up\n---\n# Setup\n",
        "filePath": file,
        "sha": stage.docs.git(["hash-object", file]).unwrap(),
        "commit": stage.link("site", file).0,
        "url": stage.link("site", file).1,
    });
    assert_eq!(page, expected);
}

#[tokio::test]
async fn req_doc_004_a_page_is_cached_and_skip_cache_reads_and_refreshes() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let get = async |skip: bool| {
        let arguments = json!({ "path": ["guides", "setup"], "skipCache": skip });
        answer(&app, "get_doc", arguments).await["content"].clone()
    };
    get(false).await;
    get(false).await;
    assert_eq!(stage.reads(), 2, "with what it fell back to, it is one answer");
    stage.github.write_to("acme/site", "site", "src/content/docs/guides/setup.md", "new").unwrap();
    assert_eq!(get(true).await, "new");
    assert_eq!(get(false).await, "new");
    assert_eq!(stage.reads(), 4);
}

#[tokio::test]
async fn pages_and_agents_are_resources_for_their_reader_only() {
    let stage = Stage::new().await;
    let app = stage.start().await;
    let read = async |token: &str, uri: &str| {
        app.send(with_token(modern("resources/read", &json!({ "uri": uri })), token)).await.message()
    };
    let page = read(ALICE, "library://library/docs/guides/setup").await;
    assert!(page["result"]["contents"][0]["text"].as_str().unwrap().contains("# Setup"), "{page}");
    assert_eq!(page["result"]["cacheScope"], "private", "{page}");
    let provenance = &page["result"]["contents"][0]["_meta"]["lyceum/provenance"];
    assert_eq!(provenance["url"], stage.link("site", "src/content/docs/guides/setup.md").1, "{page}");
    let agent = read(ALICE, "library://library/agents/reviewer").await;
    assert_eq!(agent["result"]["contents"][0]["mimeType"], "text/markdown", "{agent}");
    let refused = read(BOB, "library://library/agents/reviewer").await;
    assert_eq!(refused["error"]["data"]["error_code"], "NOT_FOUND", "{refused}");
    assert_eq!(refused["error"]["data"]["repo"], "acme/skills", "{refused}");
    let before = stage.reads();
    for uri in [
        "library://library/docs/guides/%2e%2e/x",
        "library://library/agents/..%2fx",
        "library://library/docs//x",
    ] {
        let refused = read(ALICE, uri).await;
        assert_eq!(refused["error"]["data"]["error_code"], "INVALID_PATH", "{uri} {refused}");
    }
    assert_eq!(stage.reads(), before);
}
