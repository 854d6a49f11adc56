//! Start-up time of `lyceum serve` until its first response, and idle memory.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use lyceum_harness::exchange::{self, Request};
use lyceum_harness::scratch::Scratch;
use lyceum_harness::server::Server;

const STARTS: usize = 10;

/// Timeout for the first successful response.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Time for background work after start-up to finish.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// Results.
pub(super) struct StartTimes {
    /// Median time from spawn to the first 200 of `GET /livez`.
    pub(super) first_answer: Duration,
    pub(super) idle_kib: u64,
}

/// Starts the server ten times, each with an empty data folder.
pub(super) fn measure(lyceum: &Path) -> Result<StartTimes> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let scratch = Scratch::new()?;
        let started = Instant::now();
        let server = serve(lyceum, &scratch)?;
        first_answer(&server, started)?;
        times.push(started.elapsed());
    }
    times.sort();
    let scratch = Scratch::new()?;
    let server = serve(lyceum, &scratch)?;
    first_answer(&server, Instant::now())?;
    std::thread::sleep(SETTLE_TIME);
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    Ok(StartTimes { first_answer: median, idle_kib: server.resident_kib()? })
}

fn serve(lyceum: &Path, scratch: &Scratch) -> Result<Server> {
    let mut command = Command::new(lyceum);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(scratch.folder("data")?);
    command.env("LYCEUM_EMBEDDER", "none").current_dir(scratch.path());
    Server::start(&mut command, &scratch.path().join("server.log"))
}

fn first_answer(server: &Server, started: Instant) -> Result<()> {
    let request = Request::get("/livez");
    while !exchange::send(server.addr, &request).is_ok_and(|response| response.status == 200) {
        if started.elapsed() > START_TIMEOUT {
            return server.explain(Err(anyhow!("no 200 from GET /livez within {START_TIMEOUT:?}")));
        }
    }
    Ok(())
}
