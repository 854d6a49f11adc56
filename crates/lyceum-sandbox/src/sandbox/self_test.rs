//! Self-test: a script in the sandbox tries what is forbidden, and must fail.

use std::{
    collections::BTreeMap, fs::Permissions, io::Write as _, os::unix::fs::PermissionsExt as _, path::Path,
    time::Duration,
};

use lyceum_model::RelPath;
use tempfile::NamedTempFile;
use tokio::time::timeout;

use super::Sandbox;
use crate::{Cwd, Limits, MemoryLimit, Network, Script, wire::Mechanism};

/// Prints a line for each operation that should have failed, and `end` when it is complete.
const SCRIPT: &str = include_str!("self_test.sh");

/// Self-test without a sandbox.
const UNCONFINED_SCRIPT: &str = "echo end\n";

/// Timeout of the script.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of the whole test, in case the helper misbehaves.
const TEST_TIMEOUT: Duration = Duration::from_secs(15);

/// Runs the self-test; returns how memory is limited. The error says what is wrong with this sandbox.
pub(super) async fn pass(sandbox: &Sandbox) -> Result<MemoryLimit, String> {
    let secret = secret(&sandbox.base)
        .map_err(|error| format!("could not create a file in {}: {error}", sandbox.base.display()))?;
    let Ok(finished) = timeout(TEST_TIMEOUT, sandbox.run(script(sandbox, secret.path())?)).await else {
        return Err("the sandbox self-test timed out".to_owned());
    };
    let finished = finished.map_err(|error| error.to_string())?;
    if let Some(reason) = finished.stopped {
        return Err(format!("the sandbox self-test was stopped: {reason}"));
    }
    match finished.stdout.text.trim_end().rsplit_once('\n').unwrap_or(("", finished.stdout.text.trim_end())) {
        ("", "end") => Ok(finished.memory),
        (faults, "end") => Err(faults.lines().collect::<Vec<_>>().join(", ")),
        _ => Err(format!(
            "the sandbox self-test failed with exit code {}: {}",
            finished.exit_code,
            finished.stderr.text.lines().last().unwrap_or("no output on stderr")
        )),
    }
}

/// A file that every user may read, so that only the sandbox prevents it.
fn secret(base: &Path) -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("lyceum-test-").tempfile_in(base)?;
    file.write_all(b"not for scripts\n")?;
    file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    Ok(file)
}

fn script(sandbox: &Sandbox, secret: &Path) -> Result<Script, String> {
    let file = RelPath::parse("self-test.sh").map_err(|error| error.to_string())?;
    let (text, mechanism) = match sandbox.mechanism {
        Mechanism::None => (UNCONFINED_SCRIPT, "none"),
        Mechanism::Strict { .. } => (SCRIPT, "strict"),
        Mechanism::Standard { namespaces: true, .. } => (SCRIPT, "namespaces"),
        Mechanism::Standard { namespaces: false, .. } => (SCRIPT, "plain"),
    };
    let args = BTreeMap::from([
        ("secret".to_owned(), secret.display().to_string()),
        ("server".to_owned(), std::process::id().to_string()),
        ("means".to_owned(), mechanism.to_owned()),
    ]);
    Ok(Script {
        files: vec![(file.clone(), text.as_bytes().to_vec())],
        file,
        runner: vec!["/bin/sh".to_owned()],
        cwd: Cwd::Skill,
        args,
        path: "/usr/bin:/bin".to_owned(),
        network: Network::None,
        limits: Limits { timeout: SCRIPT_TIMEOUT, grace: Duration::from_secs(1), ..Limits::default() },
        readable: Vec::new(),
        workspace: None,
    })
}
