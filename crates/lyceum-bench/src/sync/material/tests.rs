//! Tests of finding the material.

use super::{MATERIALS, SERVED};
use lyceum_harness::scratch::Scratch;

#[test]
fn a_bundle_that_is_missing_is_named_with_what_to_do() {
    let scratch = Scratch::new().unwrap();
    for material in MATERIALS {
        let error = material.bundle_in(scratch.path()).unwrap_err().to_string();
        assert!(error.contains(".bundle; name the folder of the bundles with --data"), "{error}");
    }
    std::fs::write(scratch.path().join("mdn.bundle"), "").unwrap();
    let found = MATERIALS.iter().filter(|material| material.bundle_in(scratch.path()).is_ok());
    assert_eq!(found.count(), 2);
}

#[test]
fn names_differ_and_one_is_served() {
    let names: std::collections::BTreeSet<&str> = MATERIALS.iter().map(|material| material.name).collect();
    assert_eq!(names.len(), MATERIALS.len());
    assert!(names.contains(SERVED));
}
