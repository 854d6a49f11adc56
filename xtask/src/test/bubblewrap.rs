//! Bubblewrap, which the tests of the sandbox need: it is installed where that can be done without asking.
//!
//! Where it can't be, the run goes on: those tests fail by themselves, and what to install stands before them.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::{Running, command_line};

/// For one `apt-get`; a slow mirror needs a while for its lists.
const LIMIT: Duration = Duration::from_secs(180);

/// What a person does where we may not.
const BY_HAND: &str =
    "the tests of the sandbox will fail; install bubblewrap, for example: sudo apt-get install bubblewrap";

/// What is known of this machine.
struct Machine {
    is_linux: bool,
    is_root: bool,
    has_bwrap: bool,
    has_apt: bool,
}

/// What to do about it.
#[derive(Debug, PartialEq)]
enum Plan {
    Nothing,
    Install,
    Tell,
}

/// Installs bubblewrap if it is missing and that is possible; else says what to do.
pub(super) fn ensure() {
    match plan(&this_machine()) {
        Plan::Nothing => {}
        Plan::Tell => println!("   bubblewrap is missing: {BY_HAND}"),
        Plan::Install => {
            println!("   bubblewrap is missing: installing it with apt-get");
            let installed = apt_get(&["update"])
                .and_then(|()| apt_get(&["install", "--yes", "--no-install-recommends", "bubblewrap"]));
            match installed {
                Ok(()) => println!("   bubblewrap is installed"),
                Err(error) => println!("   bubblewrap could not be installed ({error:#}): {BY_HAND}"),
            }
        }
    }
}

fn plan(machine: &Machine) -> Plan {
    match machine {
        Machine { is_linux: false, .. } | Machine { has_bwrap: true, .. } => Plan::Nothing,
        Machine { is_root: true, has_apt: true, .. } => Plan::Install,
        Machine { .. } => Plan::Tell,
    }
}

fn this_machine() -> Machine {
    Machine {
        is_linux: cfg!(target_os = "linux"),
        is_root: is_root(),
        has_bwrap: is_on_path("bwrap"),
        has_apt: is_on_path("apt-get"),
    }
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whose process this is stands in who owns its folder; asking the system itself would need unsafe code.
#[cfg(target_os = "linux")]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|folder| folder.uid() == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}

/// Runs apt-get in the open. It asks nothing, and waits for another one only for a while.
fn apt_get(words: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["--quiet", "--option", "DPkg::Lock::Timeout=60"]).args(words);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    let mut running = Running::start(&mut command, Stdio::inherit(), Stdio::inherit())?;
    match running.wait(LIMIT)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("{status}: `{}`", command_line(&command)),
        None => bail!("no end after {LIMIT:?}: `{}`", command_line(&command)),
    }
}

#[cfg(test)]
mod tests;
