//! Schemathesis reads our OpenAPI description and asks everything that it allows, and much that it does not.

mod documents;

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::scene::Scene;
use lyceum_harness::process::ProcessOutput;

const TIMEOUT: Duration = Duration::from_secs(180);

/// The words of its command line: every check, the same requests in every run, and so many that it takes half a minute.
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

/// Serves a small knowledge base and lets Schemathesis at it.
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
    summary(&stdout).with_context(|| format!("it ended well, and says nothing of test cases:\n{stdout}"))
}

/// How many requests there were, and how they went.
fn summary(output: &str) -> Option<String> {
    let mut lines = output.lines().map(str::trim).skip_while(|line| *line != "Test cases:").skip(1);
    let cases = lines.next().filter(|line| line.contains("passed"))?;
    let operations = output.lines().map(str::trim).find_map(|line| line.strip_prefix("Tested: "))?;
    Some(format!("{operations} operations, {cases}"))
}
