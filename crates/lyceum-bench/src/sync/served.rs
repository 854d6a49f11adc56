//! `lyceum serve` on a synced source: time until ready, and memory.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::lyceum::Lyceum;
use crate::memory;
use lyceum_harness::exchange::{self, Request};
use lyceum_harness::server::Server;

/// Starts per round.
const STARTS: u32 = 3;

/// Timeout until ready.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// Results.
pub(super) struct ServedResults {
    /// From process start until `/readyz` is 200, in milliseconds.
    pub(super) ready: Vec<f64>,
    /// Peak memory after the sync at start-up.
    pub(super) peak_kib: u64,
}

/// Measures repeated starts.
pub(super) fn measure(lyceum: &Lyceum<'_>, data: &Path, rounds: u32) -> Result<ServedResults> {
    let (mut ready, mut peak_kib) = (Vec::new(), 0);
    for _ in 0..rounds.saturating_mul(STARTS) {
        let started = Instant::now();
        let server = lyceum.serve(data)?;
        until_ready(&server, started)?;
        let took = started.elapsed().as_secs_f64() * 1000.0;
        println!("serve: ready after {took:.0} ms");
        ready.push(took);
    }
    for _ in 0..rounds {
        let server = lyceum.serve(data)?;
        peak_kib = memory::settled_peak_kib(server.id())?.max(peak_kib);
    }
    Ok(ServedResults { ready, peak_kib })
}

/// Waits until `/readyz` is 200.
pub(super) fn until_ready(server: &Server, started: Instant) -> Result<()> {
    let request = Request::get("/readyz");
    while !exchange::send(server.addr, &request).is_ok_and(|response| response.status == 200) {
        if started.elapsed() > READY_TIMEOUT {
            return server.explain(Err(anyhow!("no 200 from GET /readyz within {READY_TIMEOUT:?}")));
        }
        // Busy polling would take a core from the server.
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(())
}
