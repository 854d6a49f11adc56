//! `cargo xtask peers`: runs our programs against real clients, servers and the conformance suite.
//!
//! Every check has its own server and home folder, so that checks are independent. All of them run even if one fails:
//! together they tell more about an error than the first alone.
#![expect(clippy::disallowed_methods, reason = "starts programs, for development only")]
#![expect(clippy::print_stdout, reason = "its output is for a terminal; it never speaks MCP on stdout")]

mod claude;
mod conformance;
mod connect;
mod git_server;
mod inspector;
mod library;
mod otlp;
mod packages;
mod python;
mod s3;
mod sample;
mod scene;
mod schemathesis;
mod server_info;
mod sign_in;
mod signed_in;
mod upstreams;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Parser;
use lyceum_harness::repo::Repo;
use lyceum_harness::{exit_code, install, programs};

use sample::Sample;
use scene::Scene;

/// Runs real clients, servers and the conformance suite against lyceum.
#[derive(Parser)]
#[command(name = "cargo xtask peers", bin_name = "cargo xtask peers")]
struct Options {
    /// Run only the peers whose name contains this text, such as `inspector` or `2025-11-25`.
    name: Option<String>,
}

/// A check: its name, and a function that returns a remark if it passes.
type Check = (&'static str, fn(&Scene<'_>) -> Result<String>);

const CHECKS: &[Check] = &[
    ("conformance 2026-07-28", |scene| conformance::meets(scene, "2026-07-28")),
    ("conformance 2025-11-25", |scene| conformance::meets(scene, "2025-11-25")),
    ("conformance of skills, 2026-07-28", |scene| conformance::skills_meet(scene, "2026-07-28")),
    ("conformance of skills, 2025-11-25", |scene| conformance::skills_meet(scene, "2025-11-25")),
    ("Claude Code over HTTP", claude::over_http),
    ("Claude Code over stdio, SKILLS_DIR", claude::over_stdio),
    ("Claude Code over stdio, SKILLS_REPO", claude::over_stdio_from_a_repository),
    ("Inspector over HTTP, modern", |scene| inspector::over_http(scene, "modern")),
    ("Inspector over HTTP, legacy", |scene| inspector::over_http(scene, "legacy")),
    ("Inspector over stdio, modern", |scene| inspector::over_stdio(scene, "modern")),
    ("Inspector verifies a repository over HTTP, modern", |scene| {
        inspector::verifies_over_http(scene, "modern", Sample::as_repository, "/mcp")
    }),
    ("Inspector verifies a folder over HTTP, legacy", |scene| {
        inspector::verifies_over_http(scene, "legacy", Sample::as_folder, "/skills/mcp")
    }),
    ("Inspector verifies a folder over stdio, modern", |scene| {
        inspector::verifies_over_stdio(scene, "modern")
    }),
    ("Inspector verifies a folder over stdio, legacy", |scene| {
        inspector::verifies_over_stdio(scene, "legacy")
    }),
    ("library: Inspector reads from emulate, modern", |scene| library::inspector(scene, "modern")),
    ("library: Inspector reads from emulate, legacy", |scene| library::inspector(scene, "legacy")),
    ("library: Claude Code connects with a GitHub token", library::claude_code),
    ("mcp-remote", python::through_mcp_remote),
    ("Python client over HTTP, auto", |scene| python::over_http(scene, python::Mode::Auto)),
    ("Python client over HTTP, legacy", |scene| python::over_http(scene, python::Mode::Legacy)),
    ("Python client and the knowledge base, auto", |scene| python::knowledge_base(scene, python::Mode::Auto)),
    ("Python client and the knowledge base, legacy", |scene| {
        python::knowledge_base(scene, python::Mode::Legacy)
    }),
    ("Python client over stdio, SKILLS_DIR, auto", |scene| python::every_tool(scene, python::Mode::Auto)),
    ("Python client over stdio, SKILLS_DIR, legacy", |scene| python::every_tool(scene, python::Mode::Legacy)),
    ("Python client over stdio, SKILLS_REPO", python::from_a_repository),
    ("lyceum connect: Claude Code", |scene| connect::meets(scene, &connect::CLAUDE)),
    ("lyceum connect: Codex", |scene| connect::meets(scene, &connect::CODEX)),
    ("lyceum connect: Gemini CLI", |scene| connect::meets(scene, &connect::GEMINI)),
    ("lyceum connect: opencode", |scene| connect::meets(scene, &connect::OPENCODE)),
    ("packages: npm", packages::npm),
    ("packages: pip", packages::wheel),
    ("OTLP receiver", otlp::meets),
    ("S3 store", s3::meets),
    ("upstreams of the gateway", upstreams::meets),
    ("signed in: conformance", signed_in::authorization),
    ("signed in: TypeScript client, auto", |scene| signed_in::typescript(scene, "client", "auto")),
    ("signed in: TypeScript client, legacy", |scene| signed_in::typescript(scene, "client", "legacy")),
    ("signed in: TypeScript client of the older package", |scene| {
        signed_in::typescript(scene, "sdk", "legacy")
    }),
    ("signed in: Python client, auto", |scene| signed_in::python(scene, "auto")),
    ("signed in: Python client, legacy", |scene| signed_in::python(scene, "legacy")),
    ("signed in: mcp-remote", signed_in::mcp_remote),
    ("signed in: Inspector, modern", |scene| signed_in::inspector(scene, "modern")),
    ("signed in: Inspector, legacy", |scene| signed_in::inspector(scene, "legacy")),
    ("signed in: Claude Code", signed_in::claude_code),
    ("Schemathesis", schemathesis::meets),
    ("Sign-in on real chains", sign_in::on_chain),
    ("Sign-in in a browser", sign_in::in_browser),
];

fn main() -> ExitCode {
    exit_code(run(&Repo::here(), &Options::parse()))
}

/// Runs the selected checks.
fn run(repo: &Repo, options: &Options) -> Result<()> {
    let wanted = options.name.as_deref().unwrap_or_default().to_lowercase();
    let checks: Vec<Check> =
        CHECKS.iter().filter(|(name, _)| name.to_lowercase().contains(&wanted)).copied().collect();
    if checks.is_empty() {
        let names: Vec<_> = CHECKS.iter().map(|(name, _)| *name).collect();
        bail!("no peer matches {wanted:?}; peers: {}", names.join("; "));
    }
    run_checks(repo, &checks)
}

fn run_checks(repo: &Repo, checks: &[Check]) -> Result<()> {
    let tools = install::ensure(repo)?;
    let ours = ["--bin", "lyceum", "--example", "conformance", "--example", "s3_peer"];
    let programs = programs::build(repo, &[&["-p", "lyceum", "-p", "lyceum-store"], &ours[..]].concat())?;
    let mut failed = Vec::new();
    for (name, check) in checks {
        let started = Instant::now();
        let outcome = Scene::set(repo, &tools, &programs).and_then(|scene| {
            let remark = check(&scene)?;
            scene.logs_hold_no_secret().map(|()| remark)
        });
        let took = started.elapsed().as_secs_f64();
        match outcome {
            Ok(remark) => println!("   ✓ {name} ({took:.1} s): {remark}"),
            Err(error) => {
                println!("   ✗ {name} ({took:.1} s): {error:#}");
                failed.push(*name);
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let again: Vec<_> = failed.iter().map(|name| format!("cargo xtask peers '{name}'")).collect();
    bail!("{} of {} peers failed; run them alone:\n  {}", failed.len(), checks.len(), again.join("\n  "))
}
