//! Sorting and filters of the catalog.

use serde_json::json;

use super::{catalog, entry, ids};
use crate::{
    knowledge::{Catalog, Filter, groups, releases},
    ontology::Ontology,
};

fn sample() -> Catalog {
    catalog(&[
        entry(
            "pattern/cells",
            "Cells",
            json!({ "date": "2026-01-02", "group": "land", "tags": ["a", "b"], "release": "spring" }),
        ),
        entry(
            "practice/circles",
            "Circles",
            json!({ "date": "2026-03-01", "group": "water", "tags": "b", "release": "autumn" }),
        ),
        entry("article/a-story", "A story", json!({ "date": "not a day", "release": "spring" })),
        entry(
            "project/boat",
            "Boat",
            json!({ "date": "2025-12-31T10:00:00Z", "status": "active", "group": "water" }),
        ),
        entry("group/water", "Water", json!({ "date": "2025-01-01" })),
    ])
}

#[track_caller]
fn check(filter: &Filter, found: &[&str]) {
    let catalog = sample();
    let ontology = Ontology::standard().unwrap();
    let all = catalog.find(&ontology, filter, 0, 100);
    assert_eq!((ids(all.entries), all.total), (found.to_vec(), found.len()), "{filter:?}");
    let second = catalog.find(&ontology, filter, 1, 1);
    assert_eq!(ids(second.entries), found.get(1..2).unwrap_or_default(), "{filter:?}");
    assert_eq!(second.total, found.len());
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn without_a_filter_everything_is_listed_the_newest_first() {
    check(&Filter::default(), &["circles", "cells", "boat", "water", "a-story"]);
}

#[test]
fn a_type_means_those_that_extend_it_too() {
    check(&Filter { content_type: some("pattern"), ..Filter::default() }, &["cells"]);
    check(&Filter { content_type: some("resource"), ..Filter::default() }, &["circles", "cells"]);
    check(
        &Filter { content_type: some("file"), ..Filter::default() },
        &["circles", "cells", "boat", "water", "a-story"],
    );
    check(&Filter { content_type: some("nothing"), ..Filter::default() }, &[]);
}

#[test]
fn every_other_field_must_be_the_same_and_any_tag_will_do() {
    check(&Filter { group: some("water"), ..Filter::default() }, &["circles", "boat"]);
    check(&Filter { release: some("spring"), ..Filter::default() }, &["cells", "a-story"]);
    check(&Filter { status: some("active"), ..Filter::default() }, &["boat"]);
    check(&Filter { tags: vec!["b".into(), "z".into()], ..Filter::default() }, &["circles", "cells"]);
    check(&Filter { group: some("water"), release: some("autumn"), ..Filter::default() }, &["circles"]);
}

#[test]
fn an_entry_is_found_by_type_and_id() {
    let catalog = sample();
    assert_eq!(catalog.get("pattern", "cells").unwrap().summary.title, "Cells");
    assert!(catalog.get("practice", "cells").is_none());
}

#[test]
fn a_summary_is_written_as_clients_read_it() {
    let catalog = sample();
    let json: serde_json::Value =
        serde_json::from_str(&catalog.get("pattern", "cells").unwrap().json).unwrap();
    assert_eq!(
        json,
        json!({
            "id": "cells", "contentType": "pattern", "title": "Cells", "description": "About Cells.", "group": "land",
            "tags": ["a", "b"], "release": "spring", "status": null, "date": "2026-01-02", "path": "pattern/cells.md",
            "url": null, "commitSha": "c0ffee", "syncedAt": "1970-01-01T00:00:00Z",
        })
    );
}

#[test]
fn groups_are_those_with_a_document_and_those_that_are_named() {
    let catalog = sample();
    let found: Vec<_> = groups(&catalog)
        .iter()
        .map(|group| (group.slug.clone(), group.entry.is_some(), group.documents))
        .collect();
    assert_eq!(found, [("land".to_owned(), false, 1), ("water".to_owned(), true, 2)]);
}

#[test]
fn releases_have_their_documents_the_newest_first() {
    let catalog = sample();
    let found: Vec<_> =
        releases(&catalog).into_iter().map(|release| (release.slug, ids(release.entries))).collect();
    assert_eq!(found, [("autumn", vec!["circles"]), ("spring", vec!["cells", "a-story"])]);
}
