//! Which paths a glob matches.

use super::Glob;

#[track_caller]
fn check(pattern: &str, path: &str, matches: bool) {
    assert_eq!(Glob::new(pattern).matches(path), matches, "{pattern} {path}");
}

#[test]
fn a_star_stays_in_its_segment_and_two_stars_do_not() {
    check("skills/pdf/scripts/*.py", "skills/pdf/scripts/fill.py", true);
    check("skills/pdf/scripts/*.py", "skills/pdf/scripts/deep/fill.py", false);
    check("skills/*/scripts/*", "skills/pdf/scripts/fill.py", true);
    check("**/scripts/*.py", "skills/pdf/scripts/fill.py", true);
    check("**/scripts/*.py", "scripts/fill.py", true);
    check("**", "any/thing.sh", true);
    check("pdf/**", "pdf/scripts/a/b.sh", true);
    check("pdf/**/b.sh", "pdf/scripts/a/c.sh", false);
    check("./pdf/run?.sh", "pdf/run1.sh", true);
    check("pdf/run?.sh", "pdf/run.sh", false);
    check("*.py", "pdf/a.py", false);
    check("pdf", "pdf/a.py", false);
    check("", "pdf", false);
    check("a*b*c", "aXbYbZc", true);
    check("a*b*c", "aXbYbZ", false);
}
