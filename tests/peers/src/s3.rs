//! A third-party S3-compatible object store.

use std::time::Duration;

use anyhow::Result;

use super::scene::Scene;
use lyceum_harness::server::Server;

const TIMEOUT: Duration = Duration::from_secs(120);

const BUCKET: &str = "objects";

/// Puts, gets, lists and deletes objects; and checks errors.
pub(super) fn meets(scene: &Scene<'_>) -> Result<String> {
    let folder = scene.folder("s3")?;
    let key_file = folder.join("key.json");
    let mut command = scene.command(scene.tools.python())?;
    command.arg(scene.repo.path("tests/peers/s3_server.py")).arg(BUCKET).arg(&key_file);
    let server = Server::start(&mut command, &folder.join("log"))?;
    let mut peer = scene.ours("s3_peer")?;
    peer.arg(format!("http://{}", server.addr)).arg(BUCKET).arg(&key_file);
    let output = server.explain(scene.output(&mut peer, TIMEOUT))?;
    Ok(output.trim().to_owned())
}
