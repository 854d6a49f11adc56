//! `lyceum check`, and the schema that it checks against.

use std::{io::Write, process::ExitCode};

use crate::config::{Config, Overrides, json_schema};

/// Says everything that is wrong, or that nothing is.
pub(super) fn check(overrides: &Overrides) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    match Config::load(overrides) {
        Ok(config) => {
            let sources = config.sources.len();
            writeln!(
                out,
                "the configuration is good: it listens on {}, with {sources} sources",
                config.listen
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Err(faults) => {
            writeln!(out, "{faults}")?;
            Ok(ExitCode::FAILURE)
        }
    }
}

pub(super) fn schema() -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout().lock(), "{:#}", json_schema())?;
    Ok(ExitCode::SUCCESS)
}
