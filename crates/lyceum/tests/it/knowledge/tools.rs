//! The tools over every transport: both protocol versions, REST, the endpoint of the service, and stdio.

use serde_json::{Value, json};

use super::{
    base::{Base, HIDDEN, ask, both, by_rest, check_provenance},
    stage::eventually,
};
use crate::{
    app::{Older, call, get, modern},
    stdio::Program,
};

/// A successful call of each tool, and how many documents it names.
fn good_calls() -> [(&'static str, Value, usize); 7] {
    [
        ("define_term", json!({ "term": "commons" }), 1),
        ("define_term", json!({ "term": "comons" }), 0),
        ("search_lexicon", json!({ "keyword": "common" }), 2),
        ("list_groups", json!({}), 1),
        ("list_releases", json!({}), 3),
        ("get_document", json!({ "contentType": "pattern", "id": "rotating-stewards" }), 1),
        ("get_document", json!({ "contentType": "link", "id": "handbook" }), 1),
    ]
}

/// A call that is refused, and its HTTP status over REST.
fn refused_calls() -> [(&'static str, Value, u16, &'static str); 8] {
    [
        ("define_term", json!({}), 400, "VALIDATION_ERROR"),
        ("define_term", json!({ "term": 1 }), 400, "VALIDATION_ERROR"),
        ("search_lexicon", json!({ "keyword": "" }), 400, "VALIDATION_ERROR"),
        ("list_groups", json!({ "group": "x" }), 400, "VALIDATION_ERROR"),
        ("get_document", json!({ "contentType": "guide", "id": "x" }), 400, "VALIDATION_ERROR"),
        ("get_document", json!({ "contentType": "pattern", "id": "nothing" }), 404, "NOT_FOUND"),
        ("get_document", json!({ "contentType": "tag", "id": "../tag/commons" }), 404, "NOT_FOUND"),
        ("refresh_sources", json!({ "source": "other" }), 404, "NOT_FOUND"),
    ]
}

#[tokio::test]
async fn each_tool_answers_alike_through_every_door() {
    let base = Base::new();
    let app = base.served().await;
    let sessions = [Older::open(&app, "2025-11-25").await, Older::open(&app, "2025-03-26").await];
    for (tool, arguments, documents) in good_calls() {
        let answer = ask(&app, tool, &arguments).await;
        assert_eq!(check_provenance_of(tool, &answer), documents, "{tool} {arguments}: {answer}");
        let (status, rest) = by_rest(&app, tool, &arguments).await;
        assert_eq!((status, &rest["structuredContent"]), (200, &answer), "{tool}");
        for session in &sessions {
            let older = app.send(session.call(tool, &arguments)).await.result();
            let text = older["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer, "{tool} in {}", session.version);
        }
    }
    app.stop().await;
}

/// A link document has a URL in its fields, which is not the link to its file.
fn check_provenance_of(tool: &str, answer: &Value) -> usize {
    let mut answer = answer.clone();
    if tool == "get_document" {
        assert_eq!((&answer["commit"], &answer["synced_at"]), (&answer["commitSha"], &answer["syncedAt"]));
        answer["metadata"].take();
    }
    check_provenance(&answer)
}

#[tokio::test]
async fn each_refusal_is_alike_through_every_door() {
    let base = Base::new();
    let app = base.served().await;
    let session = Older::open(&app, "2025-11-25").await;
    for (tool, arguments, status, code) in refused_calls() {
        let result = app.send(call(tool, &arguments)).await.result();
        assert_eq!(
            (&result["isError"], &result["_meta"]["lyceum/error_code"]),
            (&json!(true), &json!(code)),
            "{tool} {arguments}"
        );
        let older = app.send(session.call(tool, &arguments)).await.result();
        assert_eq!((&older["isError"], &older["content"]), (&json!(true), &result["content"]), "{tool}");
        let (rest_status, rest) = by_rest(&app, tool, &arguments).await;
        let message = &rest["error"]["message"];
        assert_eq!(
            (rest_status, &rest["error"]["code"], message),
            (status, &json!(code), &result["content"][0]["text"]),
            "{tool} {arguments}"
        );
    }
    app.stop().await;
}

#[tokio::test]
async fn the_tools_answer_over_standard_input_and_output() {
    let base = Base::new();
    let mut program = Program::of(&base.tables(), &[]);
    for (tool, arguments, documents) in good_calls() {
        let result = program.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        assert_eq!(check_provenance_of(tool, &result["structuredContent"]), documents, "{tool}");
    }
    for (tool, arguments, _, code) in refused_calls() {
        let result = program.call(tool, arguments).await;
        assert_eq!(result["_meta"]["lyceum/error_code"], code, "{tool}: {result}");
    }
    program.finish().await;
}

#[tokio::test]
async fn each_tool_is_described_as_in_its_document() {
    let base = Base::new();
    let app = base.served().await;
    let all = eventually("the tools describe what is served", || async {
        let all = app.send(get("/tools")).await.json();
        if all.to_string().contains("It holds ") { Ok(all) } else { Err(all.to_string()) }
    })
    .await;
    let listed: Vec<&Value> = (all["tools"].as_array().unwrap().iter())
        .filter(|tool| tool["domain"] == "knowledge" && tool["name"] != "refresh_sources")
        .collect();
    let told: Vec<Value> = listed
        .iter()
        .map(|tool| {
            let schema = &tool["inputSchema"];
            assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
            let arguments: Vec<Value> = (schema["properties"].as_object().unwrap().iter())
                .map(|(name, argument)| json!([name, argument["type"], argument["description"]]))
                .collect();
            json!([tool["name"], tool["tier"], tool["description"], arguments, schema["required"]])
        })
        .collect();
    let expected = json!([
        [
            "define_term",
            "public",
            "Get the definition of a term from the SuperBenefit lexicon. \
             Use this when users ask 'what is X?' about a term that SuperBenefit uses. \
             The lexicon of SuperBenefit has fewer than 10 terms.",
            [["term", "string", "Term to define"]],
            ["term"]
        ],
        [
            "get_document",
            "member",
            "Get the full content of a document by its contentType and ID. Requires member access. Published documents are open to everyone by the REST API. Documents of SuperBenefit are in the results of search_knowledge.",
            [["contentType", "string", "Content type of the document"], ["id", "string", "Document ID"]],
            ["contentType", "id"]
        ],
        [
            "list_groups",
            "public",
            "List all groups in the SuperBenefit knowledge base, with members, homepage and number of documents.",
            [],
            null
        ],
        [
            "list_releases",
            "public",
            "List the releases that documents in the SuperBenefit knowledge base belong to, newest first, with their metadata.",
            [],
            null
        ],
        [
            "search_knowledge",
            "public",
            "Search the SuperBenefit knowledge base (hybrid: BM25 and embeddings). Returns the best passages, each with \
             its document, file, lines and commit. Use double quotes for an exact phrase, and a trailing * for a prefix. \
             It holds fewer than 10 documents of the types group, link, pattern, person, tag. Folders: artifacts, data, tags.",
            [
                ["explain", "boolean", "Include the score of each search stage in each result"],
                ["filters", null, "Filters that restrict the results"],
                ["query", "string", "Natural language search query"]
            ],
            ["query"]
        ],
        [
            "search_lexicon",
            "public",
            "Search lexicon entries by keyword. Returns matching terms with definitions. The lexicon of SuperBenefit has fewer than 10 terms.",
            [["keyword", "string", "Keyword to search"]],
            ["keyword"]
        ],
        [
            "search_with_documents",
            "member",
            "Search SuperBenefit and return full document content for results. Requires member access. Published documents are open to everyone by the REST API.",
            [["filters", null, "Filters that restrict the results"], ["query", "string", "Search query"]],
            ["query"]
        ],
    ]);
    assert_eq!(Value::from(told), expected);
    let types = listed[1]["inputSchema"]["properties"]["contentType"]["enum"].as_array().unwrap();
    assert_eq!(types.len(), 21, "{types:?}");
    assert!(types.contains(&json!("pattern")) && types.contains(&json!("resource")));
    app.stop().await;
}

#[tokio::test]
async fn the_service_alone_has_its_tools_at_its_own_address() {
    let base = Base::new();
    let app = base.served().await;
    let mut request = modern("tools/list", &json!({}));
    *request.uri_mut() = "/knowledge/mcp".parse().unwrap();
    let listed = app.send(request).await.result();
    let tools = listed["tools"].as_array().unwrap();
    let hints: Vec<Value> = (tools.iter())
        .map(|tool| {
            json!([tool["name"], tool["annotations"]["readOnlyHint"], tool["annotations"]["destructiveHint"]])
        })
        .collect();
    let reads = |name: &str| json!([name, true, false]);
    let expected = [
        reads("define_term"),
        reads("get_document"),
        reads("list_groups"),
        reads("list_releases"),
        json!(["refresh_sources", false, false]),
        reads("search_knowledge"),
        reads("search_lexicon"),
        reads("search_with_documents"),
    ];
    assert_eq!(hints, expected);
    app.stop().await;
}

#[tokio::test]
async fn each_answer_fits_the_schema_that_is_listed() {
    let base = Base::new();
    let app = base.served().await;
    let listed = app.send(modern("tools/list", &json!({}))).await.result();
    let more = [("refresh_sources", json!({})), ("search_lexicon", json!({ "keyword": "nothing" }))];
    let calls = good_calls().into_iter().map(|(tool, arguments, _)| (tool, arguments)).chain(more);
    for (tool, arguments) in calls {
        let entry = listed["tools"].as_array().unwrap().iter().find(|entry| entry["name"] == tool).unwrap();
        let schema = jsonschema::draft202012::new(&entry["outputSchema"]).unwrap();
        assert_eq!(entry["outputSchema"]["type"], "object");
        let answer = ask(&app, tool, &arguments).await;
        let faults: Vec<String> = schema.iter_errors(&answer).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{tool} {arguments}: {faults:?}\n{answer}");
        assert!(!schema.is_valid(&json!({})), "{tool} promises something");
    }
    app.stop().await;
}

#[tokio::test]
async fn what_is_not_published_is_nowhere() {
    let base = Base::new();
    let app = base.served().await;
    let mut seen = Vec::new();
    for (tool, arguments) in [
        ("define_term", json!({ "term": "Zanzibar" })),
        ("define_term", json!({ "term": "zanzibar-alias" })),
        ("search_lexicon", json!({ "keyword": "zanzi" })),
        ("search_lexicon", json!({ "keyword": "a" })),
        ("list_groups", json!({})),
        ("list_releases", json!({})),
        ("refresh_sources", json!({})),
    ] {
        let mut answer = ask(&app, tool, &arguments).await;
        // The requested name is repeated.
        for key in ["term", "keyword", "message"] {
            answer.as_object_mut().unwrap().remove(key);
        }
        // Callers who may refresh see which files can't be served.
        answer.as_object_mut().unwrap().remove("skipped");
        seen.push((tool, answer));
    }
    for (content_type, id) in
        [("tag", "zanzibar"), ("pattern", "zanzibar"), ("file", "idea"), ("file", "plain")]
    {
        let arguments = json!({ "contentType": content_type, "id": id });
        let result = app.send(call("get_document", &arguments)).await.result();
        let expected = format!("Document not found. No {content_type} has the id {id:?}.");
        assert_eq!(result["content"][0]["text"], expected);
    }
    for method in ["resources/list", "resources/templates/list", "prompts/list", "tools/list"] {
        seen.push((method, both(&app, method, json!({})).await));
    }
    for (what, answer) in seen {
        assert!(!answer.to_string().to_lowercase().contains(HIDDEN), "{what}: {answer}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_refresh_shows_what_changed_at_once() {
    let base = Base::new();
    let app = base.served().await;
    assert_eq!(ask(&app, "define_term", &json!({ "term": "gift" })).await["found"], false);
    base.write("tags/gift.md", "---\ntitle: Gift\ndate: 2025-04-01\npublish: true\n---\n\nGiven freely.\n");
    let report = ask(&app, "refresh_sources", &json!({ "source": "kb" })).await;
    assert_eq!(report["source"], "kb");
    assert_eq!(report["files"]["published"], 9, "{report}");
    let gift = ask(&app, "define_term", &json!({ "term": "gift" })).await;
    assert_eq!((&gift["definition"], &gift["commit"]), (&json!("Given freely."), &report["commit"]));
    base.write("tags/gift.md", "---\ntitle: Gift\ndate: 2025-04-01\npublish: false\n---\n\nGiven freely.\n");
    ask(&app, "refresh_sources", &json!({})).await;
    assert_eq!(ask(&app, "define_term", &json!({ "term": "gift" })).await["found"], false);
    app.stop().await;
}
