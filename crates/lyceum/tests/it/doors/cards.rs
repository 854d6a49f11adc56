//! Discovery documents.

use crate::app::{Settings, TestApp, get};

const PUBLIC: &str = "public_url = \"https://lyceum.example\"";

#[tokio::test]
async fn the_card_says_where_and_what_is_spoken() {
    let app = TestApp::product(Settings::server(PUBLIC)).await;
    let card = app.send(get("/mcp/server-card")).await;
    assert_eq!((card.status, card.header("content-type")), (200, "application/mcp-server-card+json"));
    insta::assert_json_snapshot!(card.json(), { ".version" => "[version]" }, @r#"
    {
      "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      "description": "Knowledge kept in Git repositories, for AI assistants",
      "name": "org.lyceum/lyceum",
      "remotes": [
        {
          "supportedProtocolVersions": [
            "2026-07-28",
            "2025-11-25",
            "2025-06-18",
            "2025-03-26"
          ],
          "type": "streamable-http",
          "url": "https://lyceum.example/mcp"
        }
      ],
      "title": "lyceum",
      "version": "[version]"
    }
    "#);
    let service = app.send(get("/server/mcp/server-card")).await;
    assert_eq!(service.json()["remotes"][0]["url"], "https://lyceum.example/server/mcp");
    assert_eq!(app.send(get("/nothing/mcp/server-card")).await.status, 404);
    app.stop().await;
}

#[tokio::test]
async fn the_catalog_lists_the_server_and_each_service() {
    let app = TestApp::product(Settings::server(PUBLIC)).await;
    let catalog = app.send(get("/.well-known/ai-catalog.json")).await;
    assert_eq!((catalog.status, catalog.header("content-type")), (200, "application/ai-catalog+json"));
    insta::assert_json_snapshot!(catalog.json(), @r#"
    {
      "entries": [
        {
          "displayName": "lyceum",
          "identifier": "urn:air:lyceum.example:mcp:lyceum",
          "type": "application/mcp-server-card+json",
          "url": "https://lyceum.example/mcp/server-card"
        },
        {
          "displayName": "lyceum: server",
          "identifier": "urn:air:lyceum.example:mcp:server",
          "type": "application/mcp-server-card+json",
          "url": "https://lyceum.example/server/mcp/server-card"
        }
      ],
      "specVersion": "1.0"
    }
    "#);
    app.stop().await;
}

#[tokio::test]
async fn without_a_public_url_the_card_names_the_address() {
    let app = TestApp::start().await;
    let card = app.send(get("/mcp/server-card")).await.json();
    assert_eq!(card["remotes"][0]["url"], format!("http://{}/mcp", app.addr));
    app.stop().await;
}

#[tokio::test]
async fn what_is_published_may_be_kept_and_read_by_any_page() {
    let app = TestApp::product(Settings::server(PUBLIC)).await;
    for path in ["/mcp/server-card", "/server/mcp/server-card", "/.well-known/ai-catalog.json"] {
        let mut request = get(path);
        request.headers_mut().insert("origin", "https://anyone.example".parse().unwrap());
        let first = app.send(request).await;
        assert_eq!((first.status, first.header("access-control-allow-origin")), (200, "*"), "{path}");
        assert_eq!(first.header("cache-control"), "public, max-age=3600");
        let known = |etag: &str| {
            let mut request = get(path);
            request.headers_mut().insert("if-none-match", etag.parse().unwrap());
            request
        };
        let again = app.send(known(first.header("etag"))).await;
        assert_eq!((again.status, again.text(), again.header("etag")), (304, "", first.header("etag")));
        assert_eq!(app.send(known("\"another\"")).await.status, 200);
    }
    app.stop().await;
}
