//! Packages of the system that some checks need: they are installed where that can be done without asking.
//!
//! Where they can't be, the run goes on: those checks fail by themselves, and what to install stands before them.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::process::succeed;

/// For one `apt-get`; a slow mirror needs a while for its lists, and a browser is large.
const APT_TIMEOUT: Duration = Duration::from_secs(600);

/// Something that is installed by the system's own means.
pub struct Package {
    name: &'static str,
    /// The programs that show that it is there; one is enough.
    programs: &'static [&'static str],
    /// What `apt-get` is asked for.
    parts: &'static [&'static str],
    /// What fails without it.
    needed_by: &'static str,
    /// Where it is needed.
    systems: Systems,
}

#[derive(Clone, Copy)]
enum Systems {
    All,
    Linux,
}

/// Keeps scripts in a sandbox.
pub const BUBBLEWRAP: Package = Package {
    name: "bubblewrap",
    programs: &["bwrap"],
    parts: &["bubblewrap"],
    needed_by: "the tests of the sandbox",
    systems: Systems::Linux,
};

/// Shows the sign-in page. Without a font of its own it would draw no letters on a bare machine.
pub const CHROMIUM: Package = Package {
    name: "chromium",
    programs: &["chromium", "chromium-browser", "google-chrome"],
    parts: &["chromium", "fonts-liberation"],
    needed_by: "the check of the sign-in page",
    systems: Systems::All,
};

/// What is known of this machine, as to one package.
struct Machine {
    is_linux: bool,
    is_root: bool,
    has_package: bool,
    has_apt: bool,
}

/// What to do about it.
#[derive(Debug, PartialEq)]
enum Plan {
    Nothing,
    Install,
    Tell,
}

/// Installs a package if it is missing and that is possible; else says what to do.
pub fn ensure(package: &Package) {
    let Package { name, parts, needed_by, .. } = package;
    let by_hand = format!(
        "{needed_by} will fail; install {name}, for example: sudo apt-get install {}",
        parts.join(" ")
    );
    match plan(package, &this_machine(package)) {
        Plan::Nothing => {}
        Plan::Tell => println!("   {name} is missing: {by_hand}"),
        Plan::Install => {
            println!("   {name} is missing: installing it with apt-get");
            let install = [&["install", "--yes", "--no-install-recommends"], *parts].concat();
            match apt_get(&["update"]).and_then(|()| apt_get(&install)) {
                Ok(()) => println!("   {name} is installed"),
                Err(error) => println!("   {name} could not be installed ({error:#}): {by_hand}"),
            }
        }
    }
}

fn plan(package: &Package, machine: &Machine) -> Plan {
    match (package.systems, machine) {
        (Systems::Linux, Machine { is_linux: false, .. }) | (_, Machine { has_package: true, .. }) => {
            Plan::Nothing
        }
        (_, Machine { is_root: true, has_apt: true, .. }) => Plan::Install,
        (_, Machine { .. }) => Plan::Tell,
    }
}

fn this_machine(package: &Package) -> Machine {
    Machine {
        is_linux: cfg!(target_os = "linux"),
        is_root: is_root(),
        has_package: package.programs.iter().any(|program| is_on_path(program)),
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
    succeed(&mut command, APT_TIMEOUT)
}

#[cfg(test)]
mod tests;
