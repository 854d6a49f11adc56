//! Invariants of the domain types.

use crate::{Domain, ErrorCode, RelPath, Tier};

#[track_caller]
fn check_domain(text: &str, accepted: bool) {
    assert_eq!(Domain::parse(text).is_ok(), accepted, "{text:?}");
}

#[test]
fn a_domain_is_safe_in_a_url() {
    check_domain("skills", true);
    check_domain("a-1_b.c:d", true);
    check_domain(&"a".repeat(64), true);
    check_domain(&"a".repeat(65), false);
    check_domain("", false);
    check_domain("1st", false);
    check_domain("-a", false);
    check_domain("Skills", false);
    check_domain("a/b", false);
    check_domain("a b", false);
    check_domain("é", false);
}

#[test]
fn a_refused_name_says_what_to_write() {
    let error = Domain::parse("My Skills").unwrap_err().to_string();
    assert_eq!(
        error,
        r#""My Skills" is not a domain: write 1 to 64 of a-z, 0-9, '-', '_', '.' or ':', beginning with a letter"#
    );
}

#[test]
fn every_code_is_listed_once_and_named_alike_everywhere() {
    let names: std::collections::BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), ErrorCode::ALL.len());
}

#[test]
fn a_higher_tier_contains_the_lower() {
    assert!(Tier::Public < Tier::Member && Tier::Member < Tier::Vibecoder);
}

#[track_caller]
fn check_path(text: &str, accepted: bool) {
    assert_eq!(RelPath::parse(text).is_ok(), accepted, "{text:?}");
}

#[test]
fn a_path_stays_below_its_root() {
    check_path("ui/react/auth.md", true);
    check_path("_root.md", true);
    check_path("été/ça va.md", true);
    check_path("a/...", true);
    check_path("100%.md", true);
    check_path("%41.md", true);
    check_path("a/".repeat(400).trim_end_matches('/'), true);

    check_path("", false);
    check_path("..", false);
    check_path("../secrets", false);
    check_path("a/../b", false);
    check_path("a/./b", false);
    check_path("a//b", false);
    check_path("a/", false);
    check_path("/etc/passwd", false);
    check_path("C:/windows", false);
    check_path("C:\\windows", false);
    check_path("a\\b", false);
    check_path("a\0b", false);
    check_path("a\nb", false);
    check_path(&"a".repeat(256), false);
    check_path(&"a/".repeat(600), false);
}

#[test]
fn a_path_in_disguise_is_refused() {
    check_path("..%2fsecrets", false);
    check_path("%2e%2e/secrets", false);
    check_path("%2E%2E%5Csecrets", false);
    check_path("%252e%252e%252fsecrets", false);
    check_path("a%00b", false);
    check_path("a%2fb", false);
    check_path("%2fetc/passwd", false);
    check_path("．．／secrets", false);
    check_path("．．/secrets", false);
    check_path("‥/secrets", false);
    check_path("a∕b", false);
    check_path("a＼b", false);
}

#[test]
fn a_path_knows_its_parts() {
    let path = RelPath::parse("ui/react/auth.test.md").unwrap();
    assert_eq!(path.name(), "auth.test.md");
    assert_eq!(path.extension(), ".md");
    assert_eq!(path.parent(), Some(RelPath::parse("ui/react").unwrap()));
    assert_eq!(
        path.below(&RelPath::parse("ui").unwrap()),
        Some(RelPath::parse("react/auth.test.md").unwrap())
    );
    assert_eq!(path.below(&RelPath::parse("u").unwrap()), None);
    assert_eq!(path.strip_suffix(".md"), Some(RelPath::parse("ui/react/auth.test").unwrap()));
    assert_eq!(RelPath::parse("a/.md").unwrap().strip_suffix(".md"), None);
    assert_eq!(RelPath::parse(".gitignore").unwrap().extension(), "");
}
