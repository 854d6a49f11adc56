//! Sign-in with real chains and a real browser: the programs in `tests/peers/sign_in`.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::scene::Scene;
use lyceum_harness::packages::{self, CHROMIUM};

/// The first run downloads and compiles the contracts.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(600);

const CHAIN_TIMEOUT: Duration = Duration::from_secs(180);
const BROWSER_TIMEOUT: Duration = Duration::from_secs(600);

/// Hats, ENS names and wallets on real chains.
pub(super) fn on_chain(scene: &Scene<'_>) -> Result<String> {
    program(scene, "on_chain.mjs", CHAIN_TIMEOUT)
}

/// The sign-in page, with a wallet in a browser.
pub(super) fn in_browser(scene: &Scene<'_>) -> Result<String> {
    if std::env::var_os("CHROMIUM").is_none() {
        packages::ensure(&CHROMIUM);
    }
    program(scene, "browser.mjs", BROWSER_TIMEOUT)
}

/// Runs a program that starts its own servers and chains; its last line is the remark.
fn program(scene: &Scene<'_>, script: &str, limit: Duration) -> Result<String> {
    prepare(scene)?;
    let mut command = scene.command(scene.tools.node())?;
    command.arg(path(scene, script));
    command.env("LYCEUM", scene.program("lyceum")?).env("ANVIL", anvil(scene)?);
    if let Some(chromium) = std::env::var_os("CHROMIUM") {
        command.env("CHROMIUM", chromium);
    }
    let output = scene.output(command.env("FOLDER", scene.folder("sign_in")?), limit)?;
    output.lines().last().map(str::to_owned).with_context(|| format!("{script} printed nothing"))
}

/// Downloads the contracts. npm uses the settings of this machine for its registry, which the checks themselves don't
/// see.
fn prepare(scene: &Scene<'_>) -> Result<()> {
    let mut command = Command::new(scene.tools.node());
    scene.output(command.arg(path(scene, "prepare.mjs")), PREPARE_TIMEOUT).map(drop)
}

/// The path of anvil: from `ANVIL`, else from npm.
fn anvil(scene: &Scene<'_>) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("ANVIL") {
        return Ok(named.into());
    }
    let program = scene.tools.package("@foundry-rs/anvil-linux-amd64/bin/anvil");
    ensure!(
        program.is_file(),
        "npm has anvil for Linux on x64 only: install Foundry and set ANVIL to where its anvil is"
    );
    Ok(program)
}

fn path(scene: &Scene<'_>, script: &str) -> PathBuf {
    scene.repo.path("tests/peers/sign_in").join(script)
}
