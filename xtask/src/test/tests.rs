//! Tests of which steps run.

use super::Options;

#[track_caller]
fn check(options: &Options, expected: &[&str]) {
    let commands: Vec<String> = options.steps().into_iter().map(|step| step.by_hand).collect();
    assert_eq!(commands, expected);
}

#[test]
fn everything_is_run_unless_less_is_asked_for() {
    check(
        &Options { quick: false, package: Vec::new(), allow_skip: Vec::new() },
        &[
            "cargo fmt --all --check",
            "cargo clippy --workspace --all-targets -- -D warnings",
            "cargo xtask tidy",
            "cargo xtask deny",
            "cargo xtask wasm",
            "cargo nextest run --workspace --no-fail-fast",
            "cargo xtask bench flood --seconds 10 --program target/debug/lyceum",
            "cargo xtask peers",
        ],
    );
}

#[test]
fn a_quick_run_has_a_profile_of_its_own() {
    check(
        &Options { quick: true, package: Vec::new(), allow_skip: Vec::new() },
        &[
            "cargo fmt --all --check",
            "cargo clippy --workspace --all-targets -- -D warnings",
            "cargo xtask tidy",
            "cargo nextest run --workspace --no-fail-fast --profile quick",
        ],
    );
}

#[test]
fn crates_are_tested_alone() {
    check(
        &Options {
            quick: false,
            package: vec!["lyceum-model".to_owned(), "lyceum-tools".to_owned()],
            allow_skip: Vec::new(),
        },
        &[
            "cargo fmt -p lyceum-model -p lyceum-tools --check",
            "cargo clippy -p lyceum-model -p lyceum-tools --all-targets -- -D warnings",
            "cargo nextest run -p lyceum-model -p lyceum-tools --no-fail-fast",
        ],
    );
}
