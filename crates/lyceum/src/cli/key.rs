//! `lyceum key`: a new key for `[[auth.api_key]]`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Context;
use lyceum_auth::{Kind, Token};

/// Prints a key. It is kept nowhere.
pub(super) fn key() -> anyhow::Result<ExitCode> {
    let token = Token::random(Kind::Key).context("the system gives no random bytes")?;
    writeln!(io::stdout(), "{}", token.reveal())?;
    eprintln!(
        "Put it into a variable, name the variable in key_env of an [[auth.api_key]], and give it to its holder."
    );
    Ok(ExitCode::SUCCESS)
}
