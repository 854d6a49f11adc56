//! What strangers and members may read, by `[knowledge] public`, over REST and both eras of MCP.

use http::{Method, header};
use lyceum_knowledge::PublicContent;
use lyceum_model::Tier;
use serde_json::{Value, json};

use super::{MEMBER, Stage, address, closed::with_key, key, sessions, with_example, with_token};
use crate::app::{Older, Request, Response, call, get, modern, within};

const ENTRY: &str = "/api/v1/entries/tag/commons";
/// A sentence of the document.
const SENTENCE: &str = "In German it is called";

/// What a request reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Summaries,
    Documents,
    /// The tools that return documents, which are for members with every setting.
    MemberTools,
}

/// A request for content, and a text that the response contains if and only if it is permitted.
#[derive(Debug)]
struct Read {
    content: Content,
    via: Via,
    shows: &'static str,
}

#[derive(Debug)]
enum Via {
    Rest { path: &'static str, accept: &'static str },
    Mcp { method: &'static str, params: Value },
}

fn rest(content: Content, path: &'static str, accept: &'static str, shows: &'static str) -> Read {
    Read { content, via: Via::Rest { path, accept }, shows }
}

fn mcp(content: Content, method: &'static str, params: Value, shows: &'static str) -> Read {
    Read { content, via: Via::Mcp { method, params }, shows }
}

fn summaries() -> Vec<Read> {
    use Content::Summaries as All;
    let tool = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let topic = json!({
        "ref": { "type": "ref/prompt", "name": "research-topic" },
        "argument": { "name": "topic", "value": "comm" },
    });
    vec![
        rest(All, "/api/v1/entries?contentType=tag", "*/*", "\"id\":\"commons\""),
        rest(All, "/api/v1/search?q=commons", "*/*", "\"id\":\"commons\""),
        rest(All, "/llms.txt", "*/*", ENTRY),
        rest(All, "/api/v1/openapi.json", "*/*", "\"openapi\""),
        rest(All, "/tools", "*/*", "\"name\":\"search_knowledge\""),
        mcp(All, "tools/list", json!({}), "\"name\":\"search_knowledge\""),
        mcp(All, "tools/call", tool("search_knowledge", json!({ "query": "commons" })), "commitSha"),
        mcp(All, "tools/call", tool("define_term", json!({ "term": "commons" })), "Allmende"),
        mcp(All, "tools/call", tool("search_lexicon", json!({ "keyword": "commons" })), "Allmende"),
        mcp(All, "tools/call", tool("list_groups", json!({})), "care-circle"),
        mcp(All, "resources/list", json!({}), "mcp://kb/data/ontology"),
        mcp(All, "resources/read", json!({ "uri": "mcp://kb/data/groups" }), "care-circle"),
        mcp(All, "prompts/list", json!({}), "research-topic"),
        mcp(
            All,
            "prompts/get",
            json!({ "name": "research-topic", "arguments": { "topic": "x" } }),
            "Research the",
        ),
        mcp(All, "completion/complete", topic, "Commons"),
    ]
}

fn documents() -> Vec<Read> {
    use Content::{Documents as All, MemberTools};
    let document = json!({ "name": "get_document", "arguments": { "contentType": "tag", "id": "commons" } });
    let search = json!({ "name": "search_with_documents", "arguments": { "query": "commons" } });
    let id = json!({
        "ref": { "type": "ref/resource", "uri": "mcp://kb/content/{contentType}/{id}" },
        "argument": { "name": "id", "value": "comm" },
    });
    vec![
        rest(All, ENTRY, "application/json", SENTENCE),
        rest(All, ENTRY, "text/markdown", SENTENCE),
        rest(All, ENTRY, "text/plain", SENTENCE),
        rest(MemberTools, "/tools", "*/*", "\"name\":\"get_document\""),
        mcp(MemberTools, "tools/list", json!({}), "\"name\":\"get_document\""),
        mcp(MemberTools, "tools/list", json!({}), "\"name\":\"search_with_documents\""),
        mcp(MemberTools, "tools/call", document, SENTENCE),
        mcp(MemberTools, "tools/call", search, SENTENCE),
        mcp(All, "resources/templates/list", json!({}), "mcp://kb/content/"),
        mcp(All, "resources/templates/list", json!({}), "mcp://kb/lexicon/"),
        mcp(All, "resources/read", json!({ "uri": "mcp://kb/content/tag/commons" }), SENTENCE),
        mcp(All, "resources/read", json!({ "uri": "mcp://kb/lexicon/commons" }), SENTENCE),
        mcp(All, "completion/complete", id, "commons"),
    ]
}

impl Read {
    /// The requests: one over REST, or one in each era of MCP.
    fn requests(&self, session: &Older) -> Vec<Request> {
        match &self.via {
            Via::Rest { path, accept } => {
                let mut request = get(path);
                request.headers_mut().insert(header::ACCEPT, accept.parse().unwrap());
                vec![request]
            }
            Via::Mcp { method, params } => vec![modern(method, params), session.request(method, params)],
        }
    }

    /// Whether a refusal has an HTTP status of its own. Otherwise the list is shorter, or there is no such thing.
    fn is_challenged(&self) -> bool {
        match &self.via {
            Via::Rest { path, .. } => *path != "/tools",
            Via::Mcp { method, .. } => *method == "tools/call",
        }
    }

    #[track_caller]
    fn check(&self, may: bool, caller: &Reader, answer: &Response) {
        let about = format!("{self:?} by {}: {answer:?}", caller.name);
        assert_eq!(answer.text().contains(self.shows), may, "{about}");
        if may || !self.is_challenged() {
            assert_eq!(answer.status, 200, "{about}");
            return;
        }
        assert_eq!(answer.status, if caller.token.is_some() { 403 } else { 401 }, "{about}");
        assert!(answer.header("www-authenticate").contains("knowledge:read"), "{about}");
    }
}

/// A caller, and a session of an earlier protocol version.
struct Reader {
    name: &'static str,
    token: Option<String>,
    session: Older,
    is_member: bool,
}

impl Reader {
    async fn stranger(stage: &Stage) -> Self {
        let session = Older::open(&stage.app, "2025-11-25").await;
        Self { name: "a stranger", token: None, session, is_member: false }
    }

    async fn with_token(stage: &Stage, name: &'static str, token: String, is_member: bool) -> Self {
        let session = sessions::open(stage, &token).await;
        Self { name, token: Some(token), session, is_member }
    }

    async fn ask(&self, stage: &Stage, request: Request) -> Response {
        stage.app.send(self.signed(request)).await
    }

    fn signed(&self, request: Request) -> Request {
        match &self.token {
            Some(token) => with_token(request, token),
            None => request,
        }
    }
}

/// A stranger, a person without a tier, a member whose client may not read documents, and a member.
async fn readers(stage: &Stage) -> [Reader; 4] {
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let public = stage.sign_in(&key(2)).await.access;
    let least = stage.sign_in_for("mcp:read", &key(1)).await.access;
    let member = stage.sign_in(&key(1)).await.access;
    [
        Reader::stranger(stage).await,
        Reader::with_token(stage, "a person without a tier", public, false).await,
        Reader::with_token(stage, "a client with mcp:read", least, false).await,
        Reader::with_token(stage, "a member", member, true).await,
    ]
}

/// Waits until the document is in the index.
async fn indexed(stage: &Stage, member: &Reader) {
    let search = || call("search_knowledge", &json!({ "query": "commons" }));
    let is_found = async || member.ask(stage, search()).await.text().contains("\"commons\"");
    within("the document is indexed", async { while !is_found().await {} }).await;
}

/// Checks every way of reading, by every kind of caller.
async fn check(public: PublicContent, others_read: &[Content]) {
    let stage = Stage::showing(public, |_| {}).await;
    let readers = readers(&stage).await;
    indexed(&stage, &readers[3]).await;
    for reader in &readers {
        for read in summaries().iter().chain(&documents()) {
            let may = reader.is_member || others_read.contains(&read.content);
            for request in read.requests(&reader.session) {
                read.check(may, reader, &reader.ask(&stage, request).await);
            }
        }
    }
}

#[tokio::test]
async fn s8_where_all_is_public_everyone_reads_everything_but_by_the_tools_for_members() {
    check(PublicContent::All, &[Content::Summaries, Content::Documents]).await;
}

#[tokio::test]
async fn s8_where_summaries_are_public_members_alone_read_documents() {
    check(PublicContent::Summaries, &[Content::Summaries]).await;
}

#[tokio::test]
async fn s8_where_nothing_is_public_members_alone_read_anything() {
    check(PublicContent::Nothing, &[]).await;
}

#[tokio::test]
async fn s8_a_document_for_members_is_confirmed_by_no_header_and_read_by_no_other_page() {
    let tables = with_example("public_url = \"https://mcp.example.org\"");
    let stage = Stage::made(&tables, |_| PublicContent::Summaries, |_| {}).await.registered().await;
    let app = &stage.app;
    // A request for the content that the client has is a request for the content.
    for (method, name, value) in [(Method::GET, "if-none-match", "*"), (Method::HEAD, "accept", "*/*")] {
        let mut request = get(ENTRY);
        *request.method_mut() = method;
        request.headers_mut().insert(name, value.parse().unwrap());
        let refused = app.send(request).await;
        assert_eq!((refused.status, refused.header("etag")), (401, ""), "{refused:?}");
        assert_eq!(refused.header("cache-control"), "no-store");
    }
    let from_a_page = |path: &str| {
        let mut request = get(path);
        request.headers_mut().insert(header::ORIGIN, "https://elsewhere.example.org".parse().unwrap());
        request
    };
    // Everyone may read the list, on any page.
    let list = app.send(from_a_page("/api/v1/entries?limit=1")).await;
    assert_eq!((list.status, list.header("access-control-allow-origin")), (200, "*"), "{list:?}");
    assert!(list.header("cache-control").starts_with("public"), "{list:?}");
    assert_eq!(app.send(from_a_page(ENTRY)).await.status, 403);
    let text = app.send(get("/llms.txt")).await;
    assert!(text.text().contains("Documents require sign-in as a member."), "{}", text.text());
}

#[tokio::test]
async fn s8_what_is_not_public_is_kept_by_no_shared_cache() {
    let tables = with_example("public_url = \"https://mcp.example.org\"");
    for (public, paths) in [
        (PublicContent::Summaries, &[ENTRY][..]),
        (PublicContent::Nothing, &[ENTRY, "/api/v1/entries", "/llms.txt", "/api/v1/openapi.json"]),
    ] {
        let mut operator = String::new();
        let stage =
            Stage::made(&tables, |_| public, |oauth| operator = with_key(oauth, Tier::Operator)).await;
        for path in paths {
            let read = stage.app.send(with_token(get(path), &operator)).await;
            assert_eq!((read.status, read.header("cache-control")), (200, "private, max-age=300"), "{path}");
            assert!(read.headers.get_all("vary").iter().any(|value| value == "Authorization"), "{path}");
            assert_eq!(read.header("access-control-allow-origin"), "", "{path}");
        }
    }
}

#[tokio::test]
async fn s8_a_token_that_may_not_read_does_not_read_where_everyone_signs_in() {
    let stage = Stage::showing(PublicContent::All, |oauth| oauth.anonymous = false).await;
    stage.chain.put_on(&address(&key(1)), super::VIBECODER);
    let refresher = stage.sign_in_for("sources:refresh", &key(1)).await;
    let reader = stage.sign_in_for("knowledge:read", &key(1)).await;
    for path in [ENTRY, "/api/v1/entries", "/api/v1/search?q=commons", "/llms.txt"] {
        assert_eq!(stage.app.send(get(path)).await.status, 401, "{path}");
        let refused = stage.app.send(with_token(get(path), &refresher.access)).await;
        assert_eq!(refused.status, 403, "{path}: {refused:?}");
        assert!(refused.header("www-authenticate").contains("mcp:read"), "{path}: {refused:?}");
        assert_eq!(stage.app.send(with_token(get(path), &reader.access)).await.status, 200, "{path}");
    }
}
