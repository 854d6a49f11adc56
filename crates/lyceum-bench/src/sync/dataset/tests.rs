//! Datasets.

use super::{DATASETS, SERVED};
use lyceum_harness::scratch::Scratch;

#[test]
fn a_bundle_that_is_missing_is_named_with_what_to_do() {
    let scratch = Scratch::new().unwrap();
    for dataset in DATASETS {
        let error = dataset.bundle_in(scratch.path()).unwrap_err().to_string();
        assert!(error.contains(".bundle; pass the folder of the bundles with --data"), "{error}");
    }
    std::fs::write(scratch.path().join("mdn.bundle"), "").unwrap();
    let found = DATASETS.iter().filter(|dataset| dataset.bundle_in(scratch.path()).is_ok());
    assert_eq!(found.count(), 2);
}

#[test]
fn names_differ_and_one_is_served() {
    let names: std::collections::BTreeSet<&str> = DATASETS.iter().map(|dataset| dataset.name).collect();
    assert_eq!(names.len(), DATASETS.len());
    assert!(names.contains(SERVED));
}
