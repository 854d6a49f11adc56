//! Groups, releases and single documents.

use serde_json::{Value, json};

use super::base::{Base, document};

async fn base() -> Base {
    let part = |release: &str, group: &str, date: &str| {
        format!("release: {release}\ngroup: {group}\ndate: {date}\n")
    };
    let text =
        |title: &str, lines: &str| format!("---\ntitle: {title}\npublish: true\n{lines}---\n\nText.\n");
    Base::of(&[
        (
            "data/groups/dao-primitives.md",
            &document(
                "DAO Primitives",
                "members: [ana, ben]\naliases: [primitives]\nhomepage: https://example.org/dp\nlogo: dp.svg\n",
                "A cell that writes patterns.",
            ),
        ),
        ("data/groups/secret.md", "---\ntitle: Secret\ndate: 2025-01-01\n---\n\nNot published.\n"),
        ("artifacts/patterns/a.md", &text("A", &part("first", "dao-primitives", "2025-01-01"))),
        ("artifacts/studies/b.md", &text("B", &part("first", "somewhere-else", "2025-02-01"))),
        ("artifacts/patterns/c.md", &text("C", &part("second", "dao-primitives", "2025-03-01"))),
        ("artifacts/patterns/d.md", "---\ntitle: D\ndate: 2025-04-01\nrelease: third\n---\n\nNot published.\n"),
    ])
    .await
}

/// Removes the fields that vary between runs, and checks that they exist.
fn without_varying(mut item: Value) -> Value {
    for key in ["commit", "synced_at", "url"] {
        assert!(item.as_object_mut().unwrap().remove(key).is_some(), "{key}: {item}");
    }
    item
}

#[tokio::test]
async fn groups_are_those_with_a_document_and_those_that_are_named() {
    let answer = base().await.ask("list_groups", json!({})).await;
    assert_eq!(answer["total"], 2);
    let described = json!({
        "slug": "dao-primitives",
        "title": "DAO Primitives",
        "description": "A cell that writes patterns.",
        "documents": 2,
        "members": ["ana", "ben"],
        "aliases": ["primitives"],
        "homepage": "https://example.org/dp",
        "logo": "dp.svg",
        "source": "kb",
        "path": "data/groups/dao-primitives.md",
    });
    assert_eq!(without_varying(answer["groups"][0].clone()), described);
    let named = json!({
        "slug": "somewhere-else",
        "title": "somewhere-else",
        "description": null,
        "documents": 1,
        "members": [],
        "aliases": [],
        "homepage": null,
        "logo": null,
    });
    assert_eq!(answer["groups"][1], named);
}

#[tokio::test]
async fn releases_are_told_with_their_documents_the_newest_first() {
    let answer = base().await.ask("list_releases", json!({})).await;
    assert_eq!(answer["total"], 2);
    let slugs: Vec<&Value> = answer["releases"].as_array().unwrap().iter().map(|one| &one["slug"]).collect();
    assert_eq!(slugs, [&json!("second"), &json!("first")]);
    let mut first = answer["releases"][1].clone();
    let entries = first["entries"].as_array_mut().unwrap();
    *entries = entries.iter().cloned().map(without_varying).collect();
    let expected = json!({
        "slug": "first",
        "documents": 2,
        "types": ["pattern", "study"],
        "groups": ["dao-primitives", "somewhere-else"],
        "date": "2025-02-01",
        "entries": [
            {
                "id": "b", "contentType": "study", "title": "B", "date": "2025-02-01",
                "source": "kb", "path": "artifacts/studies/b.md",
            },
            {
                "id": "a", "contentType": "pattern", "title": "A", "date": "2025-01-01",
                "source": "kb", "path": "artifacts/patterns/a.md",
            },
        ],
    });
    assert_eq!(first, expected);
}

#[tokio::test]
async fn a_release_names_its_first_twenty_documents() {
    let files: Vec<(String, String)> = (0..27)
        .map(|n| (format!("artifacts/patterns/p{n}.md"), document(&format!("P{n}"), "release: big\n", "x")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let answer = Base::of(&files).await.ask("list_releases", json!({})).await;
    let big = &answer["releases"][0];
    assert_eq!((&big["documents"], big["entries"].as_array().unwrap().len()), (&json!(27), 20));
}

#[tokio::test]
async fn a_document_is_told_whole_as_it_is_stored() {
    let base = base().await;
    let answer = base.ask("get_document", json!({ "contentType": "pattern", "id": "a" })).await;
    let snapshot = base.knowledge.snapshot();
    let entry = snapshot.catalog.get("pattern", "a").unwrap();
    let stored: Value =
        serde_json::from_slice(&base.knowledge.document_bytes(entry).await.unwrap().bytes).unwrap();
    for (key, value) in stored.as_object().unwrap() {
        assert_eq!(&answer[key], value, "{key}");
    }
    assert_eq!(answer["title"], "A");
    assert_eq!((&answer["commit"], &answer["synced_at"]), (&stored["commitSha"], &stored["syncedAt"]));
    assert_eq!((&answer["metadata"]["release"], &answer["content"]), (&json!("first"), &json!("\nText.\n")));
}

#[tokio::test]
async fn a_document_that_is_not_there_is_refused_with_what_is_near() {
    let base = base().await;
    for (content_type, id, expected) in [
        ("study", "a", "Document not found. No study has the id \"a\"; near it are pattern/a."),
        ("pattern", "nothing-like-it", "Document not found. No pattern has the id \"nothing-like-it\"."),
        ("pattern", "d", "Document not found. No pattern has the id \"d\"."),
        ("group", "secret", "Document not found. No group has the id \"secret\"."),
        (
            "group",
            "primitives",
            "Document not found. No group has the id \"primitives\"; near it are group/dao-primitives.",
        ),
    ] {
        let refusal = base.refusal("get_document", json!({ "contentType": content_type, "id": id })).await;
        assert_eq!(refusal, expected);
    }
}

#[tokio::test]
async fn a_type_that_is_not_there_is_refused_with_those_there_are() {
    let base = base().await;
    let refusal = base.refusal("get_document", json!({ "contentType": "guide", "id": "a" })).await;
    assert!(refusal.starts_with("arguments.contentType: must be one of \"article\", \"data\","), "{refusal}");
    assert!(refusal.ends_with("\"tag\""), "{refusal}");
}

#[tokio::test]
async fn a_refresh_brings_in_what_changed_and_names_the_sources_there_are() {
    let base = base().await;
    base.write("tags/new.md", &document("New", "", "Said."));
    let report = base.ask("refresh_sources", json!({})).await;
    assert_eq!((&report["source"], &report["added"]["count"]), (&json!("kb"), &json!(1)), "{report}");
    assert_eq!(base.ask("define_term", json!({ "term": "new" })).await["found"], true);
    let again = base.ask("refresh_sources", json!({ "source": "kb" })).await;
    assert_eq!(again["added"]["count"], 0);
    let refusal = base.refusal("refresh_sources", json!({ "source": "docs" })).await;
    assert_eq!(refusal, "no source is named \"docs\"; there is \"kb\"");
}

#[tokio::test]
async fn before_anything_was_brought_in_the_reason_is_told() {
    let base = Base::unread(&[]);
    base.knowledge.set_error(Some("the folder is gone".to_owned()));
    for (tool, arguments) in [
        ("define_term", json!({ "term": "a" })),
        ("search_lexicon", json!({ "keyword": "a" })),
        ("list_groups", json!({})),
        ("list_releases", json!({})),
        ("get_document", json!({ "contentType": "pattern", "id": "a" })),
    ] {
        let refusal = base.refusal(tool, arguments).await;
        assert_eq!(refusal, "the knowledge base can't be read: the folder is gone", "{tool}");
    }
}
