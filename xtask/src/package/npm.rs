//! npm: a package per platform, and `lyceum`, which depends on all of them as optional and starts the one that npm
//! installed, as esbuild and biome do.

use std::path::{Path, PathBuf};

use anyhow::Result;
use lyceum_harness::process;

use super::{Platform, Stage, TIMEOUT, VERSION, copy, write};

/// Builds both tarballs.
pub(super) fn build(stage: &Stage<'_>) -> Result<Vec<PathBuf>> {
    let (os, cpu) = match stage.options.platform {
        Platform::LinuxX64 => ("linux", "x64"),
        Platform::LinuxArm64 => ("linux", "arm64"),
        Platform::DarwinX64 => ("darwin", "x64"),
        Platform::DarwinArm64 => ("darwin", "arm64"),
    };
    let name = format!("@lyceum/cli-{os}-{cpu}");
    let program = stage.folder("npm-platform")?;
    stage.program(&program.join("lyceum"))?;
    stage.model(&program.join("models"))?;
    stage.documents(&program)?;
    let manifest = format!(
        r#"{{
  "name": "{name}",
  "version": "{VERSION}",
  "description": "The program of lyceum for {os} on {cpu}, with its embedding model.",
  "license": "(MIT OR Apache-2.0) AND Apache-2.0",
  "os": ["{os}"],
  "cpu": ["{cpu}"],
  "files": ["lyceum", "models", "LICENSE-MIT", "LICENSE-APACHE"],
  "preferUnplugged": true
}}
"#
    );
    write(&program.join("package.json"), &manifest, 0o644)?;

    let launcher = stage.folder("npm")?;
    let manifest = stage.text("packages/npm/lyceum/package.json")?.replace("0.0.0", VERSION);
    write(&launcher.join("package.json"), &manifest, 0o644)?;
    let script = "bin/lyceum.js";
    copy(&stage.repo.path("packages/npm/lyceum").join(script), &launcher.join(script), 0o755)?;
    stage.documents(&launcher)?;
    Ok(vec![pack(stage, &program)?, pack(stage, &launcher)?])
}

fn pack(stage: &Stage<'_>, folder: &Path) -> Result<PathBuf> {
    let mut command = stage.repo.command("npm");
    command.args(["pack", "--loglevel=error", "--pack-destination"]).arg(&stage.output).current_dir(folder);
    let output = process::output(&mut command, &stage.logs(), TIMEOUT)?;
    Ok(stage.output.join(output.lines().last().unwrap_or_default().trim()))
}
