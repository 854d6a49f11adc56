//! `lyceum check`, and the generated JSON schema and OpenAPI description.

use std::{io::Write, process::ExitCode};

use lyceum_content::ontology::Ontology;
use serde_json::{Value, json};

use crate::{
    config::{Config, Fault, Faults, Overrides, Purpose, json_schema},
    data_dir,
    finding::counted,
    http,
    services::KINDS,
};

/// The arguments of `lyceum check`.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Print JSON: valid, file, listen, sources, errors and warnings
    #[arg(long)]
    json: bool,
}

/// Prints every error, or that there are none.
pub(super) fn check(overrides: &Overrides, args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let loaded = Config::load(overrides, Purpose::Serve);
    if args.json {
        writeln!(out, "{:#}", as_json(&loaded))?;
        return Ok(if loaded.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    match loaded {
        Ok(config) => {
            let (sources, listen) = (counted(config.sources.len(), "source", "sources"), config.listen);
            let file = config.file.as_ref().map(|file| format!(" ({file})")).unwrap_or_default();
            writeln!(out, "the configuration{file} is valid: listen on {listen}, {sources}")?;
            for warning in warnings(&config) {
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

fn warnings(config: &Config) -> Vec<String> {
    config.warnings().into_iter().chain(data_dir::problem(&config.data_dir)).collect()
}

/// The result as JSON. Its keys are stable.
fn as_json(loaded: &Result<Config, Faults>) -> Value {
    match loaded {
        Ok(config) => json!({
            "valid": true,
            "file": config.file.as_ref().map(ToString::to_string),
            "listen": config.listen.to_string(),
            "sources": config.sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>(),
            "errors": [],
            "warnings": warnings(config),
        }),
        Err(Faults(faults)) => {
            let error = |fault: &Fault| {
                let key = Some(&fault.key).filter(|key| !key.is_empty());
                json!({ "origin": fault.origin.to_string(), "key": key, "message": fault.message })
            };
            let errors: Vec<Value> = faults.iter().map(error).collect();
            json!({
                "valid": false, "file": null, "listen": null, "sources": [], "errors": errors, "warnings": [],
            })
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
