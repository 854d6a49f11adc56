//! `lyceum completions` and `lyceum man`, generated from the definition of the command line.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;

/// Prints the completion script of a shell.
pub(super) fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    // To memory first: the generator panics if its output is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lyceum", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a manual page per command to a folder, or prints the main page.
pub(super) fn man(folder: Option<&Path>) -> anyhow::Result<ExitCode> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        io::stdout().lock().write_all(&page)?;
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(folder).with_context(|| format!("can't create the folder {}", folder.display()))?;
    clap_mangen::generate_to(Cli::command(), folder)
        .with_context(|| format!("can't write to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
