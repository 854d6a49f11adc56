//! A Debian package: the program, its model, manual pages, completions, and a systemd unit.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lyceum_harness::process;

use super::{Platform, Stage, TIMEOUT, VERSION, copy, write};

/// Scripts that dpkg runs.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// Builds the package.
pub(super) fn build(stage: &Stage<'_>) -> Result<Vec<PathBuf>> {
    let architecture = match stage.options.platform {
        Platform::LinuxX64 => "amd64",
        Platform::LinuxArm64 => "arm64",
        Platform::DarwinX64 | Platform::DarwinArm64 => bail!("a Debian package is for Linux"),
    };
    let root = stage.folder("deb")?;
    stage.program(&root.join("usr/bin/lyceum"))?;
    stage.model(&root.join("usr/share/lyceum/models"))?;
    let docs = root.join("usr/share/doc/lyceum");
    stage.documents(&docs)?;
    write(&docs.join("copyright"), COPYRIGHT, 0o644)?;
    let unit = "usr/lib/systemd/system/lyceum.service";
    copy(&stage.repo.path("packages/deb/lyceum.service"), &root.join(unit), 0o644)?;
    copy(&stage.repo.path("packages/deb/lyceum.toml"), &root.join("etc/lyceum/lyceum.toml"), 0o644)?;
    generated(stage, &root)?;
    let size = process::output(stage.repo.command("du").args(["-sk"]).arg(&root), &stage.logs(), TIMEOUT)?;
    let size = size.split_whitespace().next().unwrap_or_default();
    let control = format!(
        "Package: lyceum\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: The lyceum authors <lyceum@example.org>\n\
         Installed-Size: {size}\nDepends: libc6 (>= 2.34), libgcc-s1, ca-certificates, git\nSection: net\nPriority: optional\n\
         Description: Serves Git repositories to AI assistants\n \
         Docs, skills and a typed knowledge base over MCP and REST, with hybrid search\n in one program.\n"
    );
    write(&root.join("DEBIAN/control"), &control, 0o644)?;
    write(&root.join("DEBIAN/conffiles"), "/etc/lyceum/lyceum.toml\n", 0o644)?;
    for script in SCRIPTS {
        copy(&stage.repo.path("packages/deb").join(script), &root.join("DEBIAN").join(script), 0o755)?;
    }
    let package = stage.output.join(format!("lyceum_{VERSION}_{architecture}.deb"));
    let mut command = stage.repo.command("dpkg-deb");
    command.args(["--root-owner-group", "--build"]).arg(&root).arg(&package);
    process::output(&mut command, &stage.logs(), TIMEOUT)?;
    Ok(vec![package])
}

/// Manual pages and completions, which the program writes itself.
fn generated(stage: &Stage<'_>, root: &Path) -> Result<()> {
    let program = root.join("usr/bin/lyceum");
    let program = program.to_str().context("a path here is not UTF-8")?;
    let manual = root.join("usr/share/man/man1");
    fs::create_dir_all(&manual)?;
    process::output(stage.repo.command(program).arg("man").arg(&manual), &stage.logs(), TIMEOUT)?;
    for (shell, file) in [
        ("bash", "usr/share/bash-completion/completions/lyceum"),
        ("zsh", "usr/share/zsh/vendor-completions/_lyceum"),
        ("fish", "usr/share/fish/vendor_completions.d/lyceum.fish"),
    ] {
        let script = process::output(
            stage.repo.command(program).args(["completions", shell]),
            &stage.output,
            TIMEOUT,
        )?;
        write(&root.join(file), &script, 0o644)?;
    }
    Ok(())
}

const COPYRIGHT: &str = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: The lyceum authors
License: MIT or Apache-2.0
 The texts are in LICENSE-MIT and LICENSE-APACHE in this folder.

Files: usr/share/lyceum/models/all-MiniLM-L6-v2/*
Copyright: The authors of sentence-transformers/all-MiniLM-L6-v2
License: Apache-2.0
 The text is in LICENSE-APACHE in this folder.
";
