//! Python with onnxruntime and faiss: what one writes who does not want a server.

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

/// For installing it once.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(900);

/// Embedding a corpus and asking every question.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(1800);

/// Python with its packages.
pub(in crate::search) struct Python {
    program: PathBuf,
    script: PathBuf,
    tokenizer: PathBuf,
    outputs: PathBuf,
}

impl Python {
    /// Installs it, if it is not there yet.
    pub(in crate::search) fn install(place: &Workspace) -> Result<Self> {
        let folder = place.cached("venv");
        let requirements = place.script("peers/requirements.txt");
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
            script: place.script("peers/stack.py"),
            tokenizer: tokenizer(place)?,
            outputs: place.folder("outputs")?,
        })
    }

    /// Embeds the texts of a file.
    pub(in crate::search) fn embed(&self, texts: &Path) -> Result<Speed> {
        let mut command = self.command();
        let output = with_input(command.arg("embed"), texts, &self.outputs, ROUND_TIMEOUT)?;
        serde_json::from_str(&output).with_context(|| format!("not JSON: {output}"))
    }

    /// Embeds a corpus and asks every question of its set.
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

/// The tokenizer of the model that lyceum has.
fn tokenizer(place: &Workspace) -> Result<PathBuf> {
    let models = fs::read_dir(place.folder("models")?)?;
    let mut files = models.flatten().map(|model| model.path().join("tokenizer.json"));
    files.find(|file| file.is_file()).context("no model of lyceum's has a tokenizer.json")
}

fn run(command: &mut Command) -> Result<()> {
    let status = Running::start(command, Stdio::inherit(), Stdio::inherit())?.wait(INSTALL_TIMEOUT)?;
    ensure!(status.is_some_and(|status| status.success()), "the Python packages can't be installed");
    Ok(())
}
