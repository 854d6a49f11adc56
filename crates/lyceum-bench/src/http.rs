//! `cargo xtask bench http`: a trivial tool call on our server, on a bare echo server and on the official SDKs.
//!
//! All servers run for the whole benchmark and are measured in turn in each round, so that changes of the machine
//! affect all of them alike. While one is measured the others are idle.

mod call;
mod start;
mod tables;

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::machine;
use super::page::Section;
use super::wrk::{self, Measured};
use call::Call;
use lyceum_harness::install::{self, Tools};
use lyceum_harness::programs::{self, Programs};
use lyceum_harness::repo::Repo;
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;
use tables::Speed;

/// Options of the benchmark.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds per server and round.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Rounds; the median is reported.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Writes the table into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// A server and a call: one row of the table.
struct Contender {
    name: &'static str,
    server: Program,
    call: Call,
}

/// The measured programs.
enum Program {
    Echo,
    Lyceum,
    TypeScript,
    Python,
}

/// The rows that ratios refer to: the upper bound, and the reference SDK.
const CEILING: &str = "bare axum JSON echo";
const TYPESCRIPT: &str = "TypeScript SDK, modern JSON";

const CONTENDERS: &[Contender] = &[
    Contender { name: CEILING, server: Program::Echo, call: Call::Echo },
    Contender { name: "lyceum, modern JSON", server: Program::Lyceum, call: Call::ModernJson },
    Contender { name: "lyceum, modern SSE", server: Program::Lyceum, call: Call::ModernSse },
    Contender { name: "lyceum, 2025-11-25 session", server: Program::Lyceum, call: Call::LegacySession },
    Contender { name: TYPESCRIPT, server: Program::TypeScript, call: Call::ModernJson },
    Contender { name: "Python SDK, modern JSON", server: Program::Python, call: Call::ModernJson },
];

/// Runs the benchmark and prints the table; writes it with `--write`.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    wrk::must_be_installed()?;
    let tools = install::ensure(repo)?;
    println!("building with --release");
    let args = ["-p", "lyceum", "--bin", "lyceum", "--example", "conformance", "--example", "bare_echo"];
    let programs = programs::build(repo, &[&["--release"], args.as_slice()].concat())?;

    let speeds = speeds(repo, options, &tools, &programs)?;
    let start = start::measure(programs.get("lyceum")?)?;
    let load = format!("wrk, 1 thread, 64 connections, median of {} × {} s", options.rounds, options.seconds);
    let mut facts = machine::facts(repo, load, None)?;
    facts.extend(machine::sdks(repo, &tools)?);
    tables::report(&speeds, &start).with_footer(Vec::new(), facts).publish(repo, Section::Http, options.write)
}

/// Measures all contenders in every round.
fn speeds(repo: &Repo, options: &Options, tools: &Tools, programs: &Programs) -> Result<Vec<Speed>> {
    let scratch = Scratch::new()?;
    let mut running = Vec::new();
    for (contender, number) in CONTENDERS.iter().zip(0..) {
        let mut command = contender.server.command(repo, tools, programs)?;
        let server = Server::start(&mut command, &scratch.path().join(format!("{number}.log")))?;
        // Unmeasured warm-up, for JIT compilers.
        measure(contender, &server, &scratch, Duration::from_secs(1))?;
        running.push((contender, server, Vec::new()));
    }
    for round in 1..=options.rounds {
        // The order affects the results, because a load leaves the machine in another state: rotate the positions.
        running.rotate_left(1);
        for (contender, server, measured) in &mut running {
            let one = measure(contender, server, &scratch, Duration::from_secs(options.seconds))?;
            println!("round {round}: {:<28} {:>8.0} req/s", contender.name, one.per_second());
            measured.push(one);
        }
    }
    let speed = |contender: &Contender| {
        let (_, server, measured) = running
            .iter()
            .find(|(one, _, _)| one.name == contender.name)
            .with_context(|| format!("{} was not measured", contender.name))?;
        Ok(Speed::of(contender.name, measured, server.resident_kib()?))
    };
    CONTENDERS.iter().map(speed).collect()
}

/// Checks that the response is correct, then loads the server with the same request.
fn measure(contender: &Contender, server: &Server, scratch: &Scratch, time: Duration) -> Result<Measured> {
    let check_and_load = || {
        let request = contender.call.prepare(server.addr)?;
        let measured = wrk::load(server.addr, &request, scratch.path(), time)?;
        server.truncate_log()?;
        Ok(measured)
    };
    let measured: Result<Measured> = check_and_load();
    measured.with_context(|| format!("could not measure {}", contender.name))
}

impl Program {
    fn command(&self, repo: &Repo, tools: &Tools, programs: &Programs) -> Result<Command> {
        let command = match self {
            Self::Echo => listening(programs.get("bare_echo")?),
            Self::Lyceum => listening(programs.get("conformance")?),
            Self::TypeScript => script(tools.node(), &repo.path("tests/peers/bench/typescript.mjs")),
            Self::Python => script(&tools.python(), &repo.path("tests/peers/bench/python.py")),
        };
        Ok(command)
    }
}

fn listening(program: &std::path::Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--listen", "127.0.0.1:0"]);
    command
}

fn script(runtime: &std::path::Path, file: &std::path::Path) -> Command {
    let mut command = Command::new(runtime);
    command.arg(file);
    command
}
