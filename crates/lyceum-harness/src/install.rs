//! Installs the peers named in `tests/peers`, once per change of their lock files.

mod node;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::{Running, command_line};
use crate::repo::Repo;
use node::Node;

/// The file in an installed folder with a copy of the lock file it was installed from.
const STAMP_FILE: &str = ".installed-from";

/// Timeout of one installer: a slow network needs minutes for the larger packages.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(900);

/// The programs that run the peers.
pub struct Tools {
    peers: PathBuf,
    node: PathBuf,
}

impl Tools {
    /// Node, in a version that all peers support.
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// Python with the packages of `requirements.txt`.
    pub fn python(&self) -> PathBuf {
        self.peers.join(".venv/bin/python")
    }

    /// A file of an installed npm package.
    pub fn package(&self, path: &str) -> PathBuf {
        self.peers.join("node_modules").join(path)
    }

    /// The `PATH` for peers: our Node first, because some of them start `node` themselves.
    pub fn search_path(&self) -> Result<OsString> {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let ours = self.node.parent().map(Path::to_path_buf);
        let all = ours.into_iter().chain(std::env::split_paths(&inherited));
        std::env::join_paths(all).context("PATH has an entry that cannot be joined")
    }
}

/// Installs what is missing or has changed.
pub fn ensure(repo: &Repo) -> Result<Tools> {
    let peers = repo.path("tests/peers");
    let machine = node::on_this_machine()?;
    if let Some(lock) = changed(&peers, "package-lock.json", "node_modules")? {
        println!("   installing tests/peers/package-lock.json");
        install(&peers, "npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])?;
        stamp(&peers.join("node_modules"), &lock)?;
    }
    if let Some(lock) = changed(&peers, "requirements.txt", ".venv")? {
        println!("   installing tests/peers/requirements.txt");
        install(&peers, "python3", &["-m", "venv", "--clear", ".venv"])?;
        let pip =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"];
        install(&peers, ".venv/bin/python", &pip)?;
        stamp(&peers.join(".venv"), &lock)?;
    }
    let node = match machine {
        Node::NewEnough(program) => program,
        Node::TooOld { version } => node::from_npm(&peers, &version)?,
    };
    Ok(Tools { peers, node })
}

/// The text of the lock file, if the folder was installed from another one.
fn changed(peers: &Path, lock: &str, folder: &str) -> Result<Option<String>> {
    let wanted =
        fs::read_to_string(peers.join(lock)).with_context(|| format!("tests/peers/{lock} is missing"))?;
    let installed = fs::read_to_string(peers.join(folder).join(STAMP_FILE)).unwrap_or_default();
    Ok((installed != wanted).then_some(wanted))
}

fn stamp(folder: &Path, lock: &str) -> Result<()> {
    fs::write(folder.join(STAMP_FILE), lock)
        .with_context(|| format!("could not write into {}", folder.display()))
}

/// Runs an installer with its output on the terminal.
fn install(peers: &Path, program: &str, words: &[&str]) -> Result<()> {
    // A relative program would be resolved against our working directory, not that of the command.
    let path = if program.contains('/') { peers.join(program) } else { program.into() };
    let mut command = Command::new(path);
    command.args(words).current_dir(peers);
    let wait = |mut running: Running| running.wait(INSTALL_TIMEOUT);
    let outcome = match Running::start(&mut command, Stdio::inherit(), Stdio::inherit()).and_then(wait) {
        Ok(Some(status)) if status.success() => return Ok(()),
        Ok(Some(status)) => status.to_string(),
        Ok(None) => format!("timed out after {INSTALL_TIMEOUT:?}"),
        Err(error) => format!("{error:#}"),
    };
    bail!(
        "could not install the peers ({outcome}); run by hand: cd tests/peers && {}",
        command_line(&command)
    )
}
