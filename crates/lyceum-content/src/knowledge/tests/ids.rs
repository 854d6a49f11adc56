//! Assignment of ids.

use std::collections::BTreeSet;

use lyceum_model::RelPath;

use crate::knowledge::{IdRequest, IdRule, MAX_ID_BYTES, MAX_PATH_ID_BYTES, assign};

/// Assigns ids by file name to paths of one type, in the given order.
fn ids(paths: &[&str]) -> Vec<String> {
    ids_by(IdRule::FileName, paths)
}

fn ids_by(rule: IdRule, paths: &[&str]) -> Vec<String> {
    let parsed: Vec<RelPath> = paths.iter().map(|path| RelPath::parse(path).unwrap()).collect();
    let assigned = assign(parsed.iter().map(|path| IdRequest { path, content_type: "file", rule }));
    parsed.iter().map(|path| assigned[path].id.clone()).collect()
}

/// Assigns ids by path.
fn path_ids(paths: &[&str]) -> Vec<String> {
    ids_by(IdRule::Path, paths)
}

#[test]
fn a_plain_document_has_its_path_as_id() {
    let found = path_ids(&[
        "en/settings.md",
        "de/settings.md",
        "Getting started/Create a Vault.md",
        "README.md",
        "api/index.html.md",
        "index.md",
        "guide/intro.mdx",
        "ru/Настройки.md",
    ]);
    assert_eq!(
        found[..7],
        [
            "en/settings",
            "de/settings",
            "getting-started/create-a-vault",
            "readme",
            "api",
            "index",
            "guide/intro"
        ]
    );
    let hash = found[7].strip_prefix("ru/").unwrap();
    assert!(hash.len() == 8 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "{hash}");
}

#[test]
fn of_two_paths_with_one_slug_only_the_second_has_a_hash() {
    let found = path_ids(&["a/b.md", "a/b.mdx", "a/b/index.md", "A/B.md"]);
    assert_eq!(found.iter().filter(|id| *id == "a/b").count(), 1);
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 4, "{found:?}");
    let long = format!("{}/{}.md", "a".repeat(150), "b".repeat(150));
    assert_eq!(path_ids(&[&long])[0].len(), MAX_PATH_ID_BYTES);
}

#[track_caller]
fn check(path: &str, id: &str) {
    assert_eq!(ids(&[path]), [id], "{path:?}");
}

#[test]
fn the_name_of_the_file_is_the_id() {
    check("artifacts/patterns/cell-governance.md", "cell-governance");
    check("tags/Cell Governance (draft).md", "cell-governance-draft");
    check("tags/Été à Genève.md", "ete-a-geneve");
    check("tags/v1.2_final.md", "v1.2_final");
    check("tags/ﬁnal №1.md", "final-no1");
    check("tags/⬜️ G-199 Mapping.md", "g-199-mapping");
    check("tags/--- a --- b ---.md", "a-b");
}

#[test]
fn a_name_without_anything_for_an_address_becomes_a_hash() {
    let id = &ids(&["tags/知識.md"])[0];
    assert!(id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
}

#[test]
fn a_long_name_is_cut_and_told_apart_by_a_hash() {
    let (long, longer) = ("a".repeat(65), "a".repeat(66));
    let found =
        ids(&[&format!("x/{long}.md"), &format!("x/{longer}.md"), &format!("x/{}.md", "a".repeat(64))]);
    assert!(found.iter().all(|id| id.len() == MAX_ID_BYTES), "{found:?}");
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn of_two_with_one_name_the_first_path_keeps_it() {
    let found = ids(&["b/index.md", "a/index.md", "a/Index.md"]);
    assert_eq!(found[2], "index");
    assert!(found[0].starts_with("index-") && found[1].starts_with("index-") && found[0] != found[1]);
    // The hash of a path does not depend on other paths.
    assert_eq!(ids(&["b/index.md", "0/index.md"])[0], found[0]);
}

#[test]
fn a_name_that_looks_like_another_s_hash_is_no_danger() {
    let second = ids(&["a/x.md", "b/x.md"])[1].clone();
    let found = ids(&["a/x.md", "b/x.md", &format!("c/{second}.md")]);
    assert_eq!(found[2], second);
    assert_ne!(found[1], second);
}

#[test]
fn types_have_names_of_their_own() {
    let [one, other] = ["tags/cells.md", "links/cells.md"].map(|path| RelPath::parse(path).unwrap());
    let assigned = assign([(&one, "tag"), (&other, "link")].map(|(path, content_type)| IdRequest {
        path,
        content_type,
        rule: IdRule::FileName,
    }));
    assert!(assigned.values().all(|assigned| assigned.id == "cells" && assigned.is_plain));
}

#[test]
fn none_is_lost_whatever_the_names() {
    let paths: Vec<String> =
        (0..3000).map(|n| format!("{}/{}.md", n / 7, ["index", "README", "é", "知", "a b"][n % 5])).collect();
    let borrowed: Vec<&str> = paths.iter().map(String::as_str).collect();
    let distinct: BTreeSet<&str> = borrowed.iter().copied().collect();
    let found: BTreeSet<String> = ids(&distinct.iter().copied().collect::<Vec<_>>()).into_iter().collect();
    assert_eq!(found.len(), distinct.len());
}
