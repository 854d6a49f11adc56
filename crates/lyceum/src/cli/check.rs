//! `lyceum check`, and the generated JSON schema and OpenAPI description.

use std::{io::Write, process::ExitCode};

use lyceum_content::ontology::Ontology;

use crate::{
    config::{Config, Overrides, Purpose, json_schema},
    http,
    services::KINDS,
};

/// Prints every error, or that there are none.
pub(super) fn check(overrides: &Overrides) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    match Config::load(overrides, Purpose::Serve) {
        Ok(config) => {
            let (sources, listen) = (config.sources.len(), config.listen);
            let file = config.file.as_ref().map(|file| format!(" ({file})")).unwrap_or_default();
            writeln!(out, "the configuration{file} is valid: listen on {listen}, {sources} sources")?;
            for warning in config.warnings() {
                writeln!(out, "warning: {warning}")?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(faults) => {
            writeln!(out, "{faults}")?;
            Ok(ExitCode::FAILURE)
        }
    }
}

pub(super) fn schema() -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout().lock(), "{:#}", json_schema(&KINDS))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn openapi() -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout().lock(), "{:#}", http::openapi(&Ontology::standard()?))?;
    Ok(ExitCode::SUCCESS)
}
