//! Tests of choosing a Node.

use super::{MIN_VERSION, parse};

#[track_caller]
fn check(version: &str, new_enough: bool) {
    assert_eq!(parse(version).is_some_and(|version| version >= MIN_VERSION), new_enough, "{version}");
}

#[test]
fn a_node_is_new_enough_from_22_19_on() {
    check("v20.20.2", false);
    check("v22.9.0", false);
    check("v22.19.0", true);
    check("v24.0.1", true);
    check("", false);
    check("v24", false);
}
