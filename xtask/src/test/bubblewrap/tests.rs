//! Tests of what is done about a missing bubblewrap.

use super::{Machine, Plan, plan};

/// A machine that lacks bubblewrap and where it can be installed.
const LACKING: Machine = Machine { is_linux: true, is_root: true, has_bwrap: false, has_apt: true };

#[track_caller]
fn check(machine: &Machine, expected: &Plan) {
    assert_eq!(plan(machine), *expected);
}

#[test]
fn it_is_installed_only_where_nobody_must_be_asked() {
    check(&LACKING, &Plan::Install);
    check(&Machine { is_root: false, ..LACKING }, &Plan::Tell);
    check(&Machine { has_apt: false, ..LACKING }, &Plan::Tell);
}

#[test]
fn nothing_is_done_where_it_is_there_or_not_needed() {
    check(&Machine { has_bwrap: true, ..LACKING }, &Plan::Nothing);
    check(&Machine { is_linux: false, ..LACKING }, &Plan::Nothing);
}
