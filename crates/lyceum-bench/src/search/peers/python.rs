//! Python with onnxruntime and faiss: a typical in-process stack.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Peer;
use crate::search::embedding::{ROUND_TIMEOUT, Speed};
use crate::search::program::with_input;
use crate::search::workspace::Workspace;
use lyceum_harness::process::{self, Running};

/// Timeout of the installation.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(900);

/// Timeout for embedding a corpus and running every query.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(1800);

/// Python with the packages installed.
pub(in crate::search) struct Python {
    program: PathBuf,
    script: PathBuf,
    tokenizer: PathBuf,
    outputs: PathBuf,
}

impl Python {
    /// Installs the packages, unless they are installed.
    pub(in crate::search) fn install(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.cached("venv");
        let requirements = workspace.script("peers/requirements.txt");
        let wanted = fs::read_to_string(&requirements)?;
        let (stamp, program) = (folder.join("installed-from"), folder.join("bin/python"));
        if fs::read_to_string(&stamp).unwrap_or_default() != wanted {
            println!("installing the Python stack");
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
            let mut pip = Command::new(&program);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
            run(pip.arg(&requirements))?;
            fs::write(&stamp, wanted)?;
        }
        Ok(Self {
            program,
            script: workspace.script("peers/stack.py"),
            tokenizer: tokenizer(workspace)?,
            outputs: workspace.folder("outputs")?,
        })
    }

    /// Embeds the texts of a file.
    pub(in crate::search) fn embed(&self, texts: &Path) -> Result<Speed> {
        let mut command = self.command();
        let output = with_input(command.arg("embed"), texts, &self.outputs, ROUND_TIMEOUT)?;
        serde_json::from_str(&output).with_context(|| format!("not JSON: {output}"))
    }

    /// Embeds a corpus and runs every query of its test set.
    pub(super) fn search(&self, folder: &Path, set: &str) -> Result<Peer> {
        println!("Python on {set}");
        let mut command = self.command();
        let output = process::output(command.arg("search").arg(folder), &self.outputs, SEARCH_TIMEOUT)?;
        serde_json::from_str(&output).with_context(|| format!("not JSON: {output}"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(&self.script).arg(&self.tokenizer);
        command
    }
}

/// The tokenizer of lyceum's model.
fn tokenizer(workspace: &Workspace) -> Result<PathBuf> {
    let models = fs::read_dir(workspace.folder("models")?)?;
    let mut files = models.flatten().map(|model| model.path().join("tokenizer.json"));
    files.find(|file| file.is_file()).context("no installed model has a tokenizer.json")
}

fn run(command: &mut Command) -> Result<()> {
    let status = Running::start(command, Stdio::inherit(), Stdio::inherit())?.wait(INSTALL_TIMEOUT)?;
    ensure!(status.is_some_and(|status| status.success()), "could not install the Python packages");
    Ok(())
}
