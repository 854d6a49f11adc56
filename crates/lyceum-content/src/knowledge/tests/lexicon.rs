//! Lookup and search of terms.

use serde_json::json;

use super::{catalog, entry, ids};
use crate::knowledge::{Catalog, define, search_terms};

fn sample() -> Catalog {
    catalog(&[
        entry("tag/cell", "Cell", json!({ "aliases": ["Zelle", "pod"], "description": "A small team." })),
        entry("tag/cell-governance", "Cell Governance", json!({})),
        entry("tag/quorum", "Quorum", json!({ "description": "How many of a cell must be there." })),
        entry("tag/resume", "Résumé", json!({ "relatedTerms": ["quorum"] })),
        entry("pattern/pod", "Pod", json!({})),
    ])
}

#[track_caller]
fn check(name: &str, id: Option<&str>) {
    let catalog = sample();
    assert_eq!(define(&catalog, name).map(|entry| entry.summary.id.as_str()), id, "{name:?}");
}

#[test]
fn a_term_is_found_by_id_title_and_alias() {
    check("cell", Some("cell"));
    check("CELL?", Some("cell"));
    check(" cell_governance ", Some("cell-governance"));
    check("zelle", Some("cell"));
    check("pod", Some("cell"));
    check("resume", Some("resume"));
    check("RÉSUMÉ", Some("resume"));
    check("cells", None);
    check("", None);
}

#[test]
fn a_keyword_finds_names_before_descriptions() {
    let catalog = sample();
    assert_eq!(ids(search_terms(&catalog, "cell")), ["cell", "cell-governance", "quorum"]);
    assert_eq!(ids(search_terms(&catalog, "quorum")), ["quorum", "resume"]);
    assert!(search_terms(&catalog, " ").is_empty());
}
