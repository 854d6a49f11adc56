//! Tests of the rule about names.

use super::fault;

#[track_caller]
fn check(path: &str, allowed: bool) {
    assert_eq!(fault(path).is_none(), allowed, "{path}");
}

#[test]
fn a_name_says_what_is_inside() {
    check("crates/lyceum/src/http.rs", true);
    check("crates/lyceum/src/manager_of_nothing.rs", true);
    check("crates/lyceum/src/http/mod.rs", false);
    check("crates/lyceum/src/utils.rs", false);
    check("crates/lyceum/src/helpers/text.rs", false);
    check("crates/lyceum/tests/it/common.rs", false);
}
