//! Packages: npm and pip install what `cargo xtask package` builds, in an empty home folder, and the program answers with
//! the model that is inside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::scene::Scene;

/// Timeout of an installer, and of compressing a program that is not optimised.
const TIMEOUT: Duration = Duration::from_secs(300);

/// `npm install` of both tarballs.
pub(super) fn npm(scene: &Scene<'_>) -> Result<String> {
    let packages = build(scene, "npm")?;
    let home = scene.folder("home")?;
    fs::write(home.join("package.json"), "{\"private\": true}")?;
    let mut install = scene.command("npm")?;
    install.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    // The packages of other platforms are not published, and need not be.
    install.arg("--fetch-retries=0").args(&packages);
    scene.output(&mut install, TIMEOUT)?;
    let mut command = scene.command(scene.tools.node())?;
    command.arg(home.join("node_modules/lyceum/bin/lyceum.js"));
    answers(scene, command)
}

/// `pip install` of the wheel, without an index.
pub(super) fn wheel(scene: &Scene<'_>) -> Result<String> {
    let packages = build(scene, "wheel")?;
    let folder = scene.folder("home")?.join("venv");
    scene.output(scene.command("python3")?.args(["-m", "venv"]).arg(&folder), TIMEOUT)?;
    let mut install = scene.command(folder.join("bin/pip"))?;
    install.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]).args(&packages);
    scene.output(&mut install, TIMEOUT)?;
    answers(scene, scene.command(folder.join("bin/lyceum"))?)
}

/// Builds packages of one kind.
fn build(scene: &Scene<'_>, kind: &str) -> Result<Vec<PathBuf>> {
    let mut pull = scene.ours("lyceum")?;
    pull.args(["model", "pull", "--json"]).env("LYCEUM_MODELS", scene.repo.path("target/models"));
    let pulled: Value = serde_json::from_str(&scene.output(&mut pull, TIMEOUT)?).context("not JSON")?;
    let model = pulled.get("path").and_then(Value::as_str).context("no path of the model")?;
    let output = scene.folder("packages")?;
    let mut command = scene.repo.command("cargo");
    command.args(["xtask", "package", kind, "--model", model, "--binary"]).arg(scene.program("lyceum")?);
    scene.output(command.arg("--output").arg(&output), TIMEOUT)?;
    let files = fs::read_dir(&output)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(files.into_iter().filter(|path| path.is_file()).collect())
}

/// Searches, with a model hub that does not exist: the words of the question are not in the document.
fn answers(scene: &Scene<'_>, mut command: Command) -> Result<String> {
    let documents = scene.folder("documents")?;
    fs::write(documents.join("consent.md"), "# Consent\n\nA circle goes ahead if nobody objects.\n")?;
    command.args(["search", "--json", "--data-dir"]).arg(scene.data_dir()?).arg("--source").arg(&documents);
    command.args(["reaching", "agreement", "in", "a", "group"]);
    command.env("LYCEUM_EMBEDDER", "local").env("HF_ENDPOINT", "https://127.0.0.1:9");
    let response: Value = serde_json::from_str(&scene.output(&mut command, TIMEOUT)?).context("not JSON")?;
    ensure!(response.get("degraded") == Some(&Value::Null), "the model is not used: {response}");
    let path = response.pointer("/results/0/path").and_then(Value::as_str).unwrap_or_default();
    ensure!(Path::new(path) == Path::new("consent.md"), "nothing was found: {response}");
    Ok("installed in an empty home folder; hybrid search with the model inside".to_owned())
}
