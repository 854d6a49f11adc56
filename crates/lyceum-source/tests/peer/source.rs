//! A separate process for the tests: answers askpass prompts, otherwise refreshes a clone.
#![expect(clippy::disallowed_methods, reason = "it acts as the askpass program")]

use std::{env, process::ExitCode};

use lyceum_net::Secret;
use lyceum_source::{ASKPASS_VARIABLE, Repository, Settings, askpass};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = env::args();
    let program = arguments.next().unwrap_or_default();
    let first = arguments.next().unwrap_or_default();
    if let Ok(token_ref) = env::var(ASKPASS_VARIABLE) {
        return askpass(&token_ref, &first);
    }
    let folder = arguments.next().unwrap_or_default();
    let token = arguments.next().and_then(|text| Secret::new(&text).ok());
    let settings = Settings { token, ..Settings::new(first, folder, program) };
    let refreshed = match Repository::new(settings) {
        Ok(repository) => repository.refresh().await,
        Err(error) => Err(error),
    };
    match refreshed {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}: {error:?}");
            ExitCode::FAILURE
        }
    }
}
