//! System packages that some checks need, installed if that needs no interaction.
//!
//! If they can't be installed, the run continues: the checks fail by themselves, after a message that says what to
//! install.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::process::succeed;

/// Timeout of one `apt-get`: a slow mirror takes a while, and a browser is large.
const APT_TIMEOUT: Duration = Duration::from_secs(600);

/// A system package.
pub struct Package {
    name: &'static str,
    /// Programs that show that it is installed; one is enough.
    programs: &'static [&'static str],
    /// The packages to install with `apt-get`.
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

/// Runs scripts in a sandbox.
pub const BUBBLEWRAP: Package = Package {
    name: "bubblewrap",
    programs: &["bwrap"],
    parts: &["bubblewrap"],
    needed_by: "the tests of the sandbox",
    systems: Systems::Linux,
};

/// Renders the sign-in page. The font is needed on a minimal machine.
pub const CHROMIUM: Package = Package {
    name: "chromium",
    programs: &["chromium", "chromium-browser", "google-chrome"],
    parts: &["chromium", "fonts-liberation"],
    needed_by: "the check of the sign-in page",
    systems: Systems::All,
};

/// The database of deployments with several machines.
pub const POSTGRES: Package = Package {
    name: "Postgres",
    programs: &["initdb", "pg_createcluster"],
    parts: &["postgresql"],
    needed_by: "the tests of the database on Postgres",
    systems: Systems::All,
};

/// The state of this machine for one package.
struct Machine {
    is_linux: bool,
    is_root: bool,
    has_package: bool,
    has_apt: bool,
}

/// What to do about a package.
#[derive(Debug, PartialEq)]
enum Plan {
    Nothing,
    Install,
    Advise,
}

/// Installs a package if it is missing and that is possible; else prints what to do.
pub fn ensure(package: &Package) {
    let Package { name, parts, needed_by, .. } = package;
    let by_hand = format!(
        "{needed_by} will fail; install {name}, for example: sudo apt-get install {}",
        parts.join(" ")
    );
    match plan(package, &this_machine(package)) {
        Plan::Nothing => {}
        Plan::Advise => println!("   {name} is missing: {by_hand}"),
        Plan::Install => {
            println!("   {name} is missing: installing it with apt-get");
            let install = [&["install", "--yes", "--no-install-recommends"], *parts].concat();
            match apt_get(&["update"]).and_then(|()| apt_get(&install)) {
                Ok(()) => println!("   {name} is installed"),
                Err(error) => println!("   could not install {name} ({error:#}): {by_hand}"),
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
        (_, Machine { .. }) => Plan::Advise,
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

/// Reads the user id from the owner of `/proc/self`; the system call would need unsafe code.
#[cfg(target_os = "linux")]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|folder| folder.uid() == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}

/// Runs apt-get with its output on the terminal, without interaction, and with a limited wait for its lock.
fn apt_get(words: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["--quiet", "--option", "DPkg::Lock::Timeout=60"]).args(words);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    succeed(&mut command, APT_TIMEOUT)
}

#[cfg(test)]
mod tests;
