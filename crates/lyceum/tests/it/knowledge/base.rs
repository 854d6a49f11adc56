//! A small knowledge base in a temporary folder, and common requests.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::{Older, TestApp, call, modern, post};

/// A word in everything that must not be served.
pub(super) const HIDDEN: &str = "zanzibar";

/// The documents: every type that the tools return, and some that must not be served.
const FILES: [(&str, &str); 14] = [
    (
        "tags/commons.md",
        "---\ntitle: Commons\ndescription: A shared resource\ndate: 2025-01-10\npublish: true\n\
         aliases: [common pool]\nrelatedTerms: [commoning]\ncategory: economics\n---\n\nA resource and those who care for it.\n",
    ),
    (
        "tags/commoning.md",
        "---\ntitle: Commoning\ndate: 2025-01-11\npublish: true\nrelatedTerms: [commons]\n---\n\nCaring for a commons.\n",
    ),
    (
        "artifacts/patterns/rotating-stewards.md",
        "---\ntitle: Rotating stewards\ndate: 2025-02-01\npublish: true\ngroup: dao-primitives\nrelease: first-light\n\
         tags: [commons]\nproblem: Power gathers\n---\n\n# Rotating stewards\n\nStewards change every season.\n",
    ),
    (
        "artifacts/practices/check-in.md",
        "---\ntitle: Check-in\ndate: 2025-02-02\npublish: true\ngroup: allinforsport\nrelease: first-light\n---\n\nEveryone speaks once.\n",
    ),
    (
        "artifacts/studies/harbour.md",
        "---\ntitle: The harbour\ndate: 2025-03-01\npublish: true\nrelease: second-wind\n---\n\nA port that its workers own.\n",
    ),
    (
        "data/groups/dao-primitives.md",
        "---\ntitle: DAO Primitives\ndescription: Writes patterns down\ndate: 2025-01-01\npublish: true\nmembers: [ana, ben]\n\
         homepage: https://example.org/dp\n---\n\nA cell.\n",
    ),
    (
        "data/people/ana.md",
        "---\ntitle: Ana\ndate: 2025-01-02\npublish: true\ngroups: [dao-primitives]\n---\n\nWrites.\n",
    ),
    (
        "links/handbook.md",
        "---\ntitle: Handbook\ndate: 2025-01-03\npublish: true\nurl: https://example.org/handbook\n---\n\nRead it.\n",
    ),
    (
        "tags/zanzibar.md",
        "---\ntitle: Zanzibar\ndate: 2025-01-01\n---\n\nzanzibar, a term that is not published.\n",
    ),
    (
        "tags/zanzibar-draft.md",
        "---\ntitle: Zanzibar draft\ndate: 2025-01-01\npublish: true\ndraft: true\naliases: [zanzibar-alias]\n---\n\nzanzibar\n",
    ),
    (
        "artifacts/patterns/zanzibar.md",
        "---\ntitle: Zanzibar pattern\ndate: 2025-01-01\npublish: false\ngroup: zanzibar-group\nrelease: zanzibar-release\n---\n\nzanzibar\n",
    ),
    (
        "data/groups/zanzibar.md",
        "---\ntitle: Zanzibar group\ndate: 2025-01-01\ndraft: true\n---\n\nzanzibar\n",
    ),
    ("drafts/idea.md", "---\ntitle: Idea\ndate: 2025-01-01\n---\n\nzanzibar\n"),
    ("notes/plain.md", "Without frontmatter: zanzibar\n"),
];

/// A folder of documents.
pub(super) struct Base {
    root: TempDir,
}

impl Base {
    /// A folder with these documents.
    pub(super) fn new() -> Self {
        let base = Self { root: tempfile::tempdir().unwrap() };
        for (file, text) in FILES {
            base.write(file, text);
        }
        base
    }

    /// Their folder.
    pub(super) fn path(&self) -> PathBuf {
        self.root.path().join("kb")
    }

    /// Writes a file atomically, like editors: under another name first.
    pub(super) fn write(&self, file: &str, text: &str) {
        let (place, unfinished) = (self.path().join(file), self.root.path().join("unfinished"));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&unfinished, text).unwrap();
        fs::rename(unfinished, place).unwrap();
    }

    /// The tables that serve them.
    pub(super) fn tables(&self) -> String {
        format!(
            "[[source]]\nname = \"kb\"\npath = {:?}\n[knowledge]\nsource = \"kb\"\ntitle = \"SuperBenefit\"\n",
            self.path()
        )
    }

    /// A server with them.
    pub(super) async fn served(&self) -> TestApp {
        TestApp::product_of(&self.tables()).await
    }
}

/// The result of a tool; checks that its text equals its structured content.
pub(super) async fn ask(app: &TestApp, tool: &str, arguments: &Value) -> Value {
    let result = app.send(call(tool, arguments)).await.result();
    assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"], "the text says what the structure says");
    text
}

/// The status and the body of a call over REST.
pub(super) async fn by_rest(app: &TestApp, tool: &str, arguments: &Value) -> (u16, Value) {
    let body = json!({ "arguments": arguments }).to_string();
    let answer = app.send(post(&format!("/tools/{tool}/call"), body)).await;
    (answer.status, answer.json())
}

/// Sends one request in both protocol versions; the results must be equal, apart from modern fields.
pub(super) async fn both(app: &TestApp, method: &str, params: Value) -> Value {
    let session = Older::open(app, "2025-11-25").await;
    let modern = app.send(modern(method, &params)).await.result();
    let older = app.send(session.request(method, &params)).await.result();
    let mut rest = modern.clone();
    for key in ["_meta", "resultType", "ttlMs", "cacheScope"] {
        rest.as_object_mut().unwrap().remove(key);
    }
    assert_eq!(older, rest, "{method}");
    modern
}

/// Checks that one request fails in both protocol versions, with a message that contains that word.
pub(super) async fn both_refuse(app: &TestApp, method: &str, params: Value, codes: [i64; 2], word: &str) {
    let session = Older::open(app, "2025-11-25").await;
    let answers = [app.send(modern(method, &params)).await, app.send(session.request(method, &params)).await];
    for (answer, code) in answers.iter().zip(codes) {
        let error = answer.message()["error"].clone();
        assert_eq!(error["code"], code, "{method} {params}: {error}");
        assert!(error["message"].as_str().unwrap().contains(word), "{method} {params}: {error}");
    }
}

/// Checks that every object with a path has its provenance; returns how many there are.
pub(super) fn check_provenance(answer: &Value) -> usize {
    match answer {
        Value::Array(items) => items.iter().map(check_provenance).sum(),
        Value::Object(object) => {
            let inner: usize = object.values().map(check_provenance).sum();
            if !object.contains_key("path") {
                return inner;
            }
            let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
            assert_eq!(text("source"), "kb", "{answer}");
            assert!(FILES.iter().any(|(file, _)| *file == text("path")), "{answer}");
            assert!(!text("commit").is_empty() && text("synced_at").ends_with('Z'), "{answer}");
            assert_eq!(object.get("url"), Some(&Value::Null), "a folder has no links: {answer}");
            inner + 1
        }
        _ => 0,
    }
}
