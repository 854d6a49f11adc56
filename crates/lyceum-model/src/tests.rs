//! The nouns keep their promises.

use crate::{Domain, ErrorCode, Tier};

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
