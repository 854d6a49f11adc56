//! Suggestions and completions.

use std::sync::Arc;

use jiff::Timestamp;
use lyceum_model::RelPath;
use serde_json::json;

use super::{completions, near_documents, near_terms};
use crate::knowledge::{Catalog, Entry, EntryParts};

fn entry(content_type: &str, id: &str, title: &str, aliases: &[&str]) -> Arc<Entry> {
    let fields = json!({ "title": title, "aliases": aliases });
    Arc::new(Entry::new(EntryParts {
        id: id.to_owned(),
        content_type: content_type.to_owned(),
        path: RelPath::parse(&format!("{content_type}/{id}.md")).unwrap(),
        title: title.to_owned(),
        excerpt: String::new(),
        metadata: fields.as_object().unwrap().clone(),
        version: "c".to_owned(),
        synced_at: Timestamp::UNIX_EPOCH,
        url: None,
        hash: String::new(),
        first_line: 1,
    }))
}

fn catalog() -> Catalog {
    Catalog::new([
        entry("tag", "commons", "Commons", &[]),
        entry("tag", "commoning", "Commoning", &[]),
        entry("tag", "cell", "Cell", &["working group"]),
        entry("tag", "a", "A", &[]),
        entry("pattern", "commons", "The commons as a pattern", &[]),
        entry("pattern", "rotating-stewards", "Rotating stewards", &[]),
    ])
}

#[track_caller]
fn check_terms(name: &str, expected: &[&str]) {
    let catalog = catalog();
    let found: Vec<&str> =
        near_terms(&catalog, name, 5).iter().map(|entry| entry.summary.id.as_str()).collect();
    assert_eq!(found, expected, "{name:?}");
}

#[test]
fn terms_are_near_by_their_letters_and_all_their_names() {
    check_terms("comons", &["commons", "commoning"]);
    check_terms("Working Groups", &["cell"]);
    check_terms("the commons", &["commons", "commoning"]);
    check_terms("zzz", &[]);
    check_terms("", &[]);
    let catalog = catalog();
    assert_eq!(near_terms(&catalog, "comons", 1).len(), 1);
}

#[track_caller]
fn check_documents(content_type: &str, id: &str, expected: &[&str]) {
    let catalog = catalog();
    let found: Vec<String> =
        near_documents(&catalog, content_type, id, 5).iter().map(|entry| entry.key()).collect();
    assert_eq!(found, expected, "{content_type}/{id}");
}

#[test]
fn documents_are_near_by_their_ids_those_of_the_type_first() {
    check_documents("practice", "rotating-stewards", &["pattern/rotating-stewards"]);
    check_documents("pattern", "rotating_steward", &["pattern/rotating-stewards"]);
    check_documents("tag", "common", &["tag/commons", "pattern/commons", "tag/commoning"]);
    check_documents("tag", "xyzzy", &[]);
}

#[track_caller]
fn check_completed(typed: &str, expected: &[&str]) {
    let names = ["Commons", "Cell", "Digital commons", "Commons", "Übergabe"];
    assert_eq!(completions(names, typed), expected, "{typed:?}");
}

#[test]
fn names_that_begin_with_what_is_typed_come_before_those_that_contain_it() {
    check_completed("com", &["Commons", "Digital commons"]);
    check_completed("COMM", &["Commons", "Digital commons"]);
    check_completed("uber", &["Übergabe"]);
    check_completed("", &["Cell", "Commons", "Digital commons", "Übergabe"]);
    check_completed("x", &[]);
}
