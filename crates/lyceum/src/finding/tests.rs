//! Tests of how findings are printed.

use super::*;

fn missing_date(path: &str) -> Finding {
    Finding {
        severity: "warning",
        path: path.to_owned(),
        line: Some(1),
        field: Some("date".to_owned()),
        message: "is missing".to_owned(),
    }
}

#[track_caller]
fn check(findings: &[Finding], listing: Listing, expected: &str) {
    assert_eq!(lines(findings, listing), expected);
}

#[test]
fn the_same_about_many_files_is_one_line() {
    let mut findings: Vec<Finding> = ["a.md", "b.md", "c.md", "d.md"].map(missing_date).into();
    findings
        .insert(1, Finding { message: "is not a date".to_owned(), line: Some(3), ..missing_date("x.md") });
    let grouped = "  warning  4 files: date: is missing (first: a.md, b.md, c.md)\n  \
        warning  x.md:3: date: is not a date\n";
    check(&findings, Listing::Grouped, grouped);
    check(&findings[..1], Listing::Grouped, "  warning  a.md:1: date: is missing\n");
    assert_eq!(lines(&findings, Listing::All).lines().count(), 5);
}

#[test]
fn a_few_stay_in_the_order_of_their_files() {
    let other = Finding { message: "is not a date".to_owned(), ..missing_date("b.md") };
    let expected = "  warning  a.md:1: date: is missing\n  warning  b.md:1: date: is not a date\n  \
        warning  c.md:1: date: is missing\n";
    check(&[missing_date("a.md"), other, missing_date("c.md")], Listing::Grouped, expected);
}

#[test]
fn many_different_ones_are_cut_off_unless_all_are_asked_for() {
    let one = |number: usize| Finding { message: format!("is {number}"), ..missing_date("a.md") };
    let findings: Vec<Finding> = (0..MAX_LINES + 7).map(one).collect();
    let text = lines(&findings, Listing::Grouped);
    assert!(text.ends_with("\n  … and 7 more; --all lists every one\n"), "{text}");
    assert_eq!(lines(&findings, Listing::All).lines().count(), findings.len());
}

#[test]
fn one_is_not_counted_as_many() {
    assert_eq!(counted(1_usize, "source", "sources"), "1 source");
    assert_eq!(counted(0_usize, "source", "sources"), "0 sources");
}
