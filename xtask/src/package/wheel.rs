//! A wheel. Python writes it, since every machine that uses one has it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lyceum_harness::process;

use super::{Platform, Stage, TIMEOUT, VERSION};

/// Builds the wheel.
pub(super) fn build(stage: &Stage<'_>) -> Result<Vec<PathBuf>> {
    // A static program runs on every Linux; a dynamic one on systems like this one, and PyPI refuses such a wheel.
    let is_static = !is_dynamic(&stage.options.binary)?;
    let tag = match stage.options.platform {
        Platform::LinuxX64 if is_static => "manylinux2014_x86_64.musllinux_1_1_x86_64",
        Platform::LinuxX64 => "linux_x86_64",
        Platform::LinuxArm64 if is_static => "manylinux2014_aarch64.musllinux_1_1_aarch64",
        Platform::LinuxArm64 => "linux_aarch64",
        Platform::DarwinX64 => "macosx_10_12_x86_64",
        Platform::DarwinArm64 => "macosx_11_0_arm64",
    };
    let folder = stage.folder("wheel")?;
    stage.program(&folder.join("lyceum"))?;
    stage.model(&folder.join("models"))?;
    stage.documents(&folder)?;
    let mut command = stage.repo.command("python3");
    command.arg("packages/wheel/build.py").arg(&folder).args([VERSION, tag]).arg(&stage.output);
    let output = process::output(&mut command, &stage.logs(), TIMEOUT)?;
    Ok(vec![PathBuf::from(output.trim())])
}

/// Whether a program of Linux names a dynamic loader.
fn is_dynamic(program: &Path) -> Result<bool> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    let loader = b"/ld-linux";
    Ok(bytes.windows(loader.len()).any(|window| window == loader))
}
