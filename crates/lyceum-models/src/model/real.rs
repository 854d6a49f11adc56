//! The real weights for the tests of this crate: the folder that `lyceum-testkit` has for those of all others.
//!
//! Not by way of `lyceum-testkit` itself: it depends on this crate, and brings half of the workspace along.

use std::{
    path::{Path, PathBuf},
    thread,
};

use super::{Fallback, PullOptions, Variant, pull};

/// The default model as a pull makes it, in 8 bits.
pub(crate) fn model_folder() -> PathBuf {
    got(Variant::Int8, "")
}

/// The same in floats of 32 bits.
pub(crate) fn float_model_folder() -> PathBuf {
    got(Variant::Fp32, "fp32")
}

fn got(variant: Variant, below: &str) -> PathBuf {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models").join(below);
    // An address that nothing listens on, so that `pip` is asked at once.
    let hub = "http://127.0.0.1:9".to_owned();
    let options = PullOptions { variant, hub, fallback: Fallback::Pip, ..PullOptions::new(models) };
    // A thread of its own, since a test may run in a runtime already.
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(pull(&options, |_| {})).unwrap()
    };
    thread::spawn(work).join().unwrap().path().to_owned()
}
