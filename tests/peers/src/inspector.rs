//! The command line of the MCP Inspector, for all protocol versions, over HTTP and stdio.

mod skills;

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::sample::Sample;
use super::scene::{Scene, Target};
use super::server_info;
use lyceum_harness::process::ProcessOutput;
pub(super) use skills::{verifies_over_http, verifies_over_stdio};

const TIMEOUT: Duration = Duration::from_secs(60);

/// How the Inspector connects.
pub(super) struct Inspector<'a> {
    scene: &'a Scene<'a>,
    era: &'static str,
    /// Options before the target.
    options: Vec<String>,
    target: Vec<String>,
}

impl<'a> Inspector<'a> {
    pub(super) fn at(scene: &'a Scene<'a>, era: &'static str, url: String) -> Self {
        Self { scene, era, options: ["--transport", "http"].map(str::to_owned).to_vec(), target: vec![url] }
    }

    fn starting(scene: &'a Scene<'a>, era: &'static str, stdio: Target) -> Self {
        let variable = |(name, value)| ["-e".to_owned(), format!("{name}={value}")];
        let options = stdio.variables.into_iter().flat_map(variable).collect();
        Self { scene, era, options, target: stdio.words }
    }

    /// The same with a header in every request.
    pub(super) fn sending(mut self, header: &str) -> Self {
        self.options.extend(["--header".to_owned(), header.to_owned()]);
        self
    }

    /// Runs one method, whatever its exit status.
    fn run(&self, words: &[&str]) -> Result<ProcessOutput> {
        let mut command = self.scene.command(self.scene.tools.node())?;
        command
            .arg(self.scene.tools.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js"));
        command.args(["--cli", "--format", "json", "--protocol-era", self.era]).args(&self.options);
        command.args(words).arg("--").args(&self.target);
        self.scene.finish(&mut command, TIMEOUT)
    }

    /// Runs one method that must succeed; returns its standard output.
    fn output(&self, words: &[&str]) -> Result<String> {
        let ProcessOutput { status, stdout, stderr } = self.run(words)?;
        if status.success() {
            return Ok(stdout);
        }
        bail!("{status}: {}\n{stdout}{stderr}", words.join(" "))
    }

    /// The result of a method: the Inspector wraps it in `{"result": …}`.
    pub(super) fn ask(&self, words: &[&str]) -> Result<Value> {
        let output = self.output(words)?;
        let output_value: Value =
            serde_json::from_str(&output).with_context(|| format!("not one JSON value: {output}"))?;
        output_value.get("result").cloned().with_context(|| format!("no `result` in {output}"))
    }
}

/// Lists the tools and calls `server_info` over HTTP.
pub(super) fn over_http(scene: &Scene<'_>, era: &'static str) -> Result<String> {
    let server = scene.serve()?;
    server.explain(meets(&Inspector::at(scene, era, server.mcp_url())))
}

/// Lists the tools and calls `server_info` over stdio.
pub(super) fn over_stdio(scene: &Scene<'_>, era: &'static str) -> Result<String> {
    let skills = Sample::make(scene)?.skills_dir()?;
    meets(&Inspector::starting(scene, era, scene.stdio(&[("SKILLS_DIR", &skills)])?))
}

fn meets(inspector: &Inspector<'_>) -> Result<String> {
    // `--strict` fails on schemas that some clients can't handle.
    let listed = inspector.ask(&["--method", "tools/list", "--strict"])?;
    let tools = listed.get("tools").and_then(Value::as_array).context("tools/list has no `tools`")?;
    let names: Vec<_> = tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
    server_info::is_listed(&names)?;

    let call = ["--method", "tools/call", "--tool-name", server_info::NAME, "--tool-args-json", "{}"];
    let result = inspector.ask(&call)?;
    let version = server_info::version(result.get("structuredContent"))?;
    Ok(format!("{} tools, version {version}", names.len()))
}
