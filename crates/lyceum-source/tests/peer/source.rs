//! A process of its own for the tests: asked by git it answers, and otherwise it brings a clone up to date.
#![expect(clippy::disallowed_methods, reason = "it plays the program that git asks for a token")]

use std::{env, process::ExitCode};

use lyceum_net::Secret;
use lyceum_source::{ASKPASS_VARIABLE, Repository, Settings, askpass};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = env::args();
    let program = arguments.next().unwrap_or_default();
    let first = arguments.next().unwrap_or_default();
    if let Ok(errand) = env::var(ASKPASS_VARIABLE) {
        return askpass(&errand, &first);
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
