//! The authorization scenarios of the conformance suite.

use std::fs;

use anyhow::{Result, ensure};

use super::super::scene::Scene;
use super::scene::{AnonymousAccess, SignedInScene, free_port};

const SCENARIOS: [&str; 2] = ["authorization-server-metadata-endpoint", "authorization-code-grant"];

/// Runs all scenarios, with a user who signs in.
pub(in super::super) fn authorization(scene: &Scene<'_>) -> Result<String> {
    let setup = SignedInScene::open(scene, AnonymousAccess::Public)?;
    let results = scene.repo.path("tests/peers/results/authorization");
    // Results of an earlier run would be mistaken for those of this one.
    let _ = fs::remove_dir_all(&results);
    let resource = setup.server.mcp_url();
    let issuer = resource.trim_end_matches("/mcp");
    let mut command = setup.node("person.mjs")?;
    command.arg(scene.tools.node());
    command.arg(scene.tools.package("@modelcontextprotocol/conformance/dist/index.js"));
    command.args(["authorization", "--url", issuer, "--resource", &resource, "--client-id", "conformance"]);
    command.args(["--port", &free_port()?.to_string(), "--spec-version", "2026-07-28", "--output-dir"]);
    let met = setup.run(command.arg(results)).and_then(|(summary, _)| {
        let passed = passed(&summary);
        ensure!(passed == SCENARIOS, "not the scenarios that should pass, but {passed:?}:\n{summary}");
        // The suite requests no scope, and gets the minimum.
        let who = setup.who_was_given("mcp:read")?;
        ensure!(who == "conformance", "{who} signed in, and not the suite");
        Ok(format!("{} scenarios passed", passed.len()))
    });
    setup.server.explain(met)
}

/// The scenarios without a failure, from lines such as `✓ name: 2 passed, 0 failed`.
fn passed(summary: &str) -> Vec<&str> {
    let lines = summary.lines().filter_map(|line| line.strip_prefix("✓ ")?.split_once(": "));
    lines.filter(|(_, figures)| figures.ends_with(" passed, 0 failed")).map(|(name, _)| name).collect()
}
