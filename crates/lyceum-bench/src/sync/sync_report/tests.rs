//! Parsing the report.

use super::{Files, SyncReport, parse};

const LAST: &str = "2156 files: 1082 published, 0 drafts, 1052 unpublished, 22 skipped, 0 failed\n";

#[track_caller]
fn check(text: &str, expected: Option<&SyncReport>) {
    assert_eq!(parse(text).as_ref(), expected, "{text}");
}

#[test]
fn a_report_says_what_changed_and_where_every_file_is() {
    let files = Files { published: 1082, drafts: 0, unpublished: 1052, skipped: 22, failed: 0 };
    let report = SyncReport { commit: "0ca8472".to_owned(), took_ms: 981.0, files, ..SyncReport::default() };
    check(&format!("kb at 0ca8472, in 981 ms\nskipped: 1\n  skipped  a.md: added: 7\n{LAST}"), Some(&report));
    let report =
        SyncReport { commit: "0ca8472".to_owned(), took_ms: 5.0, added: 1, changed: 22, removed: 3, files };
    let text = format!("kb at 0ca8472, in 5 ms\nadded: 1\n  added  a.md\nchanged: 22\nremoved: 3\n{LAST}");
    assert_eq!(report.touched(), 26);
    check(&text, Some(&report));
}

#[test]
fn what_is_no_report_is_not_taken_for_one() {
    check("", None);
    check("kb at 0ca8472, in 981 ms\n", None);
    check(&format!("kb at 0ca8472\n{LAST}"), None);
    // The total differs from the sum.
    check("kb at 0, in 1 ms\n3 files: 1 published, 0 drafts, 1 unpublished, 0 skipped, 0 failed\n", None);
}
