//! The lexicon: definitions, suggestions, and limits.

use serde_json::{Value, json};

use super::base::{Base, document};

async fn lexicon() -> Base {
    Base::of(&[
        (
            "tags/commons.md",
            &document(
                "Commons",
                "description: A shared resource\naliases: [common pool, Allmende]\nrelatedTerms: [commoning]\n\
                 category: economics\n",
                "# Commons\n\nA resource and *those who care* for it.\n\nMore of it.",
            ),
        ),
        ("tags/dao.md", &document("DAO", "aliases: Decentralised Autonomous Organisation\n", "An organisation.")),
        ("tags/empty.md", &document("Empty", "description: Said in one line\n", "")),
        ("tags/hidden.md", &document("Hidden", "draft: true\n", "Nobody sees this.")),
        ("artifacts/patterns/commons.md", &document("Commons pattern", "", "Not a term.")),
    ])
    .await
}

/// Checks the provenance of a definition.
fn check_provenance(answer: &Value, path: &str) {
    let commit = answer["commit"].as_str().unwrap();
    assert!(!commit.is_empty());
    assert_eq!((&answer["source"], &answer["path"]), (&json!("kb"), &json!(path)), "{answer}");
    // A folder that is no clone has no links.
    assert_eq!(answer["url"], Value::Null);
    assert!(answer["synced_at"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{answer}");
}

#[tokio::test]
async fn a_term_is_told_with_all_that_belongs_to_it() {
    let base = lexicon().await;
    let mut answer = base.ask("define_term", json!({ "term": "commons" })).await;
    check_provenance(&answer, "tags/commons.md");
    for key in ["commit", "synced_at", "url"] {
        answer.as_object_mut().unwrap().remove(key);
    }
    let expected = json!({
        "found": true,
        "id": "commons",
        "term": "Commons",
        "definition": "# Commons\n\nA resource and *those who care* for it.\n\nMore of it.",
        "description": "A shared resource",
        "aliases": ["common pool", "Allmende"],
        "relatedTerms": ["commoning"],
        "category": "economics",
        "truncated": false,
        "source": "kb",
        "path": "tags/commons.md",
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_term_is_found_by_each_of_its_names() {
    let base = lexicon().await;
    for name in ["Commons", " COMMONS ", "common-pool", "allmende", "\"commons\"?"] {
        let answer = base.ask("define_term", json!({ "term": name })).await;
        assert_eq!((&answer["found"], &answer["id"]), (&json!(true), &json!("commons")), "{name}");
    }
    let answer = base.ask("define_term", json!({ "term": "decentralised autonomous organisation" })).await;
    assert_eq!((&answer["id"], &answer["description"]), (&json!("dao"), &Value::Null));
    assert_eq!(answer["aliases"], json!(["Decentralised Autonomous Organisation"]));
}

#[tokio::test]
async fn a_term_without_a_body_means_its_description() {
    let answer = lexicon().await.ask("define_term", json!({ "term": "empty" })).await;
    assert_eq!(answer["definition"], "Said in one line");
}

#[tokio::test]
async fn a_term_that_is_not_there_is_a_normal_answer_with_suggestions() {
    let base = lexicon().await;
    let answer = base.ask("define_term", json!({ "term": "comons" })).await;
    let expected = json!({
        "found": false,
        "term": "comons",
        "message": "Term \"comons\" not found in lexicon.",
        "suggestions": ["Commons"],
    });
    assert_eq!(answer, expected);
    let hidden = base.ask("define_term", json!({ "term": "hidden" })).await;
    assert_eq!((&hidden["found"], &hidden["suggestions"]), (&json!(false), &json!([])));
}

#[tokio::test]
async fn at_most_five_terms_are_suggested() {
    let files: Vec<(String, String)> = (0..9)
        .map(|n| (format!("tags/steward-{n}.md"), document(&format!("Steward {n}"), "", "x")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let answer = Base::of(&files).await.ask("define_term", json!({ "term": "stewards" })).await;
    assert_eq!(answer["suggestions"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn a_long_definition_is_cut_at_a_word() {
    let body = "word ".repeat(4_000);
    let base = Base::of(&[("tags/long.md", &document("Long", "", &body))]).await;
    let answer = base.ask("define_term", json!({ "term": "long" })).await;
    let definition = answer["definition"].as_str().unwrap();
    assert!(definition.ends_with(" word..."), "{}", &definition[definition.len() - 20..]);
    assert!((7_900..=8_003).contains(&definition.chars().count()));
    assert_eq!(answer["truncated"], true);
}

#[tokio::test]
async fn a_search_tells_the_terms_named_by_the_keyword_first() {
    let base = lexicon().await;
    let answer = base.ask("search_lexicon", json!({ "keyword": "organisation" })).await;
    assert_eq!((&answer["total"], &answer["keyword"]), (&json!(1), &json!("organisation")));
    let term = &answer["terms"][0];
    assert_eq!((&term["term"], &term["definition"]), (&json!("DAO"), &json!("An organisation.")));
    check_provenance(term, "tags/dao.md");
    let nothing = base.ask("search_lexicon", json!({ "keyword": "hidden" })).await;
    assert_eq!(nothing, json!({ "keyword": "hidden", "total": 0, "terms": [] }));
}

#[tokio::test]
async fn a_search_tells_fifty_terms_and_how_many_there_are() {
    let files: Vec<(String, String)> =
        (0..73).map(|n| (format!("tags/t{n}.md"), document(&format!("Token {n}"), "", "Counts."))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let answer = Base::of(&files).await.ask("search_lexicon", json!({ "keyword": "token" })).await;
    assert_eq!((&answer["total"], answer["terms"].as_array().unwrap().len()), (&json!(73), 50));
}

#[tokio::test]
async fn arguments_that_are_none_are_refused_with_their_names() {
    let base = lexicon().await;
    for (tool, arguments, word) in [
        ("define_term", json!({}), "arguments.term"),
        ("define_term", json!({ "term": "" }), "arguments.term"),
        ("define_term", json!({ "term": "x".repeat(501) }), "arguments.term"),
        ("define_term", json!({ "term": 5 }), "arguments.term"),
        ("define_term", json!({ "term": "a", "word": "b" }), "arguments.word"),
        ("search_lexicon", json!({ "keyword": "" }), "arguments.keyword"),
        ("list_groups", json!({ "all": true }), "arguments.all"),
    ] {
        let refusal = base.refusal(tool, arguments).await;
        assert!(refusal.contains(word), "{tool}: {refusal}");
    }
}
