//! Tests of what to do about a missing package.

use super::{BUBBLEWRAP, CHROMIUM, Machine, POSTGRES, Package, Plan, plan};

/// A machine without the package, on which it can be installed.
const LACKING: Machine = Machine { is_linux: true, is_root: true, has_package: false, has_apt: true };

#[track_caller]
fn check(package: &Package, machine: &Machine, expected: &Plan) {
    assert_eq!(plan(package, machine), *expected, "{}", package.name);
}

#[test]
fn it_is_installed_only_where_nobody_must_be_asked() {
    for package in [BUBBLEWRAP, CHROMIUM, POSTGRES] {
        check(&package, &LACKING, &Plan::Install);
        check(&package, &Machine { is_root: false, ..LACKING }, &Plan::Advise);
        check(&package, &Machine { has_apt: false, ..LACKING }, &Plan::Advise);
    }
}

#[test]
fn nothing_is_done_where_it_is_there_or_not_needed() {
    for package in [BUBBLEWRAP, CHROMIUM, POSTGRES] {
        check(&package, &Machine { has_package: true, ..LACKING }, &Plan::Nothing);
    }
    check(&BUBBLEWRAP, &Machine { is_linux: false, ..LACKING }, &Plan::Nothing);
}

#[test]
fn a_browser_is_needed_on_every_system() {
    check(&CHROMIUM, &Machine { is_linux: false, is_root: false, ..LACKING }, &Plan::Advise);
}
