//! `lyceum key`: creates an API key for `[[auth.api_key]]`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Context;
use lyceum_auth::{Kind, Token};
use serde_json::json;

use super::Format;

/// Prints a new key. It is not stored.
pub(super) fn key(format: Format) -> anyhow::Result<ExitCode> {
    let token = Token::random(Kind::Key).context("could not read random bytes from the system")?;
    match format {
        Format::Text => writeln!(io::stdout(), "{}", token.reveal())?,
        Format::Json => writeln!(io::stdout(), "{}", json!({ "key": token.reveal() }))?,
    }
    eprintln!(
        "Store it in an environment variable and name that variable in key_env of an [[auth.api_key]]. It is not shown again."
    );
    Ok(ExitCode::SUCCESS)
}
