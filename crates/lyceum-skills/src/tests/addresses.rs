//! `skill://` URIs: canonical form and parsing.

use lyceum_model::RelPath;

use crate::standard::address;

#[track_caller]
fn check(path: &str, uri: &str) {
    let path = RelPath::parse(path).unwrap();
    assert_eq!(address::of(&path), uri);
    assert_eq!(address::path_of(uri), Some(path));
}

#[test]
fn a_path_has_one_address() {
    check("pdf/SKILL.md", "skill://pdf/SKILL.md");
    check("acme/pdf/a b.txt", "skill://acme/pdf/a%20b.txt");
    check("pdf/100%.md", "skill://pdf/100%25.md");
    check("pdf/été.md", "skill://pdf/%C3%A9t%C3%A9.md");
    check("pdf/a:b@c?d#e.md", "skill://pdf/a%3Ab%40c%3Fd%23e.md");
}

#[track_caller]
fn check_refused(uri: &str) {
    assert_eq!(address::path_of(uri), None, "{uri}");
}

#[test]
fn other_spellings_are_understood_and_tricks_are_not() {
    assert_eq!(address::path_of("skill://%70df/SKILL%2emd"), RelPath::parse("pdf/SKILL.md").ok());
    check_refused("skill://");
    check_refused("skill:///etc/passwd");
    check_refused("skill://pdf/../secret");
    check_refused("skill://pdf/%2e%2e/secret");
    check_refused("skill://pdf/%2");
    check_refused("skill://pdf/%zz");
    check_refused("skill://pdf/%ff");
    check_refused("skill://pdf/a%00b");
    check_refused("file:///etc/passwd");
}
