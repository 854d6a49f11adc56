//! The real default model for the tests of this crate, in the folder that `lyceum-testkit` uses for other crates.
//!
//! `lyceum-testkit` itself can't be used: it depends on this crate.

use std::{
    path::{Path, PathBuf},
    thread,
};

use super::{Fallback, PullOptions, Variant, pull};

/// The default model in int8, as a pull installs it.
pub(crate) fn model_folder() -> PathBuf {
    pulled(Variant::Int8, "")
}

/// The default model in float32.
pub(crate) fn float_model_folder() -> PathBuf {
    pulled(Variant::Fp32, "fp32")
}

fn pulled(variant: Variant, subfolder: &str) -> PathBuf {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models").join(subfolder);
    // Nothing listens on this port, so the pull falls back to `pip` at once.
    let hub = "http://127.0.0.1:9".to_owned();
    let options = PullOptions { variant, hub, fallback: Fallback::Pip, ..PullOptions::new(models) };
    // A separate thread, because the test may run in a runtime.
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(pull(&options, |_| {})).unwrap()
    };
    thread::spawn(work).join().unwrap().path().to_owned()
}
