//! `lyceum agents export`: writes the agent profiles of the library in the form of a coding assistant.

use std::{
    collections::HashSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{Subcommand, ValueEnum};
use lyceum_content::{
    frontmatter,
    library::{AgentFormat, AgentsIndex, agent_id},
};
use lyceum_library::Indexed;

use crate::{config::Config, library};

/// Maximum size of an agent profile, in bytes.
const MAX_PROFILE_BYTES: u64 = 1024 * 1024;

/// The commands of `lyceum agents`.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write the agent profiles of the library in the form of a coding assistant
    Export {
        /// The assistant
        #[arg(long = "for", value_name = "ASSISTANT")]
        assistant: Assistant,
        /// Folder to write to [default: .claude/agents, .github/agents or .codex/agents]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Overwrite files that differ
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Assistant {
    Claude,
    Copilot,
    Codex,
}

#[tokio::main]
pub(super) async fn agents(config: &Config, command: &Command) -> anyhow::Result<ExitCode> {
    let Command::Export { assistant, out, force } = command;
    let format = match assistant {
        Assistant::Claude => AgentFormat::Claude,
        Assistant::Copilot => AgentFormat::Copilot,
        Assistant::Codex => AgentFormat::Codex,
    };
    let folder = out.clone().unwrap_or_else(|| PathBuf::from(format.folder()));
    let (mut files, mut ids) = (Vec::new(), HashSet::new());
    for (name, library) in library::all(config)? {
        library.sync_all().await;
        let state = library.state().borrow().clone();
        if let Some((source, error)) = state.errors.first_key_value() {
            anyhow::bail!("cannot read the library {name}: the source {source}: {error}");
        }
        if let Some(agents) = &state.indexes.agents {
            files.extend(profiles(agents, format, &mut ids)?);
        }
    }
    if files.is_empty() {
        anyhow::bail!(
            "there is no agent profile to export; write agents = {{ source = \"…\" }} in [library]"
        );
    }
    write(&folder, &files, *force)?;
    writeln!(io::stdout(), "{}: {} agents", folder.display(), files.len())?;
    Ok(ExitCode::SUCCESS)
}

/// The files of all profiles, each with its own name.
fn profiles(
    agents: &Indexed<AgentsIndex>,
    format: AgentFormat,
    ids: &mut HashSet<String>,
) -> anyhow::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in &agents.index.entries {
        let bytes = agents.snapshot.read(&entry.path, MAX_PROFILE_BYTES);
        let bytes = bytes.with_context(|| format!("cannot read {}", entry.path))?;
        let text = String::from_utf8_lossy(&bytes);
        let body = frontmatter::parse(&text).map_or(text.as_ref(), |parts| parts.body);
        let first = agent_id(&entry.name);
        let mut numbered = (2..).map(|number| format!("{first}-{number}"));
        let mut id = first.clone();
        while !ids.insert(id.clone()) {
            id = numbered.next().unwrap_or_default();
        }
        files.push((format.file_name(&id), format.write(&id, entry, body)));
    }
    Ok(files)
}

/// Writes the files. Refuses before the first one if it would replace something else.
fn write(folder: &Path, files: &[(String, String)], force: bool) -> anyhow::Result<()> {
    let differs = |(name, text): &&(String, String)| {
        fs::read(folder.join(name)).is_ok_and(|there| there != text.as_bytes())
    };
    if let Some((name, _)) = files.iter().find(differs).filter(|_| !force) {
        let file = folder.join(name);
        anyhow::bail!(
            "{} exists and differs; nothing is written: use --force to overwrite, or another --out",
            file.display()
        );
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    for (name, text) in files {
        let file = folder.join(name);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
