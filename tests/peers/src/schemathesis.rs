//! Schemathesis: sends valid and invalid requests, generated from our OpenAPI description.

mod documents;

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::scene::Scene;
use lyceum_harness::process::ProcessOutput;

const TIMEOUT: Duration = Duration::from_secs(180);

/// Its arguments: all checks, deterministic requests, about half a minute.
const ARGUMENTS: [&str; 12] = [
    "run",
    "--no-color",
    "--include-method=GET",
    "--checks=all",
    "--phases=coverage,fuzzing,stateful",
    "--max-examples=60",
    "--seed=20260728",
    "--generation-deterministic",
    "--continue-on-failure",
    "--workers=1",
    "--request-timeout=10",
    "--warnings=off",
];

/// Runs Schemathesis against a small knowledge base.
pub(super) fn meets(scene: &Scene<'_>) -> Result<String> {
    let folder = scene.folder("kb")?;
    documents::write(&folder)?;
    let server = scene.serve_knowledge(&folder)?;
    let mut command = scene.command(scene.tools.python())?;
    command.args(["-m", "schemathesis.cli"]).args(ARGUMENTS);
    command.arg(format!("http://{}/api/v1/openapi.json", server.addr));
    let ProcessOutput { status, stdout, stderr } = scene.finish(&mut command, TIMEOUT)?;
    if !status.success() {
        bail!("{status}\n{stdout}{stderr}");
    }
    summary(&stdout).with_context(|| format!("it succeeded, but printed no test cases:\n{stdout}"))
}

/// The numbers of operations and test cases.
fn summary(output: &str) -> Option<String> {
    let mut lines = output.lines().map(str::trim).skip_while(|line| *line != "Test cases:").skip(1);
    let cases = lines.next().filter(|line| line.contains("passed"))?;
    let operations = output.lines().map(str::trim).find_map(|line| line.strip_prefix("Tested: "))?;
    Some(format!("{operations} operations, {cases}"))
}
