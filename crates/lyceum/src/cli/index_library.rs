//! `lyceum index-library`: writes the indexes of a library as JSON files, for example to bundle them in a deployment.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use lyceum_library::{Indexes, PartKind};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{config::Config, library};

/// The arguments of `lyceum index-library`.
#[derive(Debug, clap::Args)]
pub(super) struct IndexLibraryArgs {
    /// Folder for skills-index.json, agents-index.json and docs-index.json; it is created if necessary
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Print JSON: an array with library, files and findings
    #[arg(long)]
    json: bool,
}

/// What was written for one library. Its keys are stable.
#[derive(Serialize)]
struct Written {
    library: String,
    files: Vec<WrittenFile>,
    findings: Vec<WrittenFinding>,
}

#[derive(Serialize)]
struct WrittenFile {
    file: PathBuf,
    entries: usize,
}

#[derive(Serialize)]
struct WrittenFinding {
    file: String,
    message: String,
}

#[tokio::main]
pub(super) async fn index_library(config: &Config, args: &IndexLibraryArgs) -> anyhow::Result<ExitCode> {
    let libraries = library::all(config)?;
    if libraries.is_empty() {
        anyhow::bail!("there is no library to index; add a [library] table to lyceum.toml");
    }
    let mut all = Vec::new();
    for (name, library) in &libraries {
        library.sync_all().await;
        let state = library.state().borrow().clone();
        if let Some((source, error)) = state.errors.first_key_value() {
            anyhow::bail!("cannot index the library {name}: the source {source}: {error}");
        }
        // A named library has its own folder.
        let is_first = name.as_str() == library::KIND.table;
        let folder = if is_first { args.out.clone() } else { args.out.join(name.as_str()) };
        all.push(write_all(name.to_string(), &state.indexes, &folder)?);
    }
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    for Written { files, findings, .. } in &all {
        for WrittenFile { file, entries } in files {
            writeln!(out, "{}: {entries} entries", file.display())?;
        }
        for WrittenFinding { file, message } in findings {
            writeln!(out, "{file}: {message}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the three files. A part that is not configured is empty, so that programs can import all three.
fn write_all(library: String, indexes: &Indexes, folder: &Path) -> anyhow::Result<Written> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let (mut files, mut findings) = (Vec::new(), Vec::new());
    for kind in PartKind::ALL {
        let empty = if kind == PartKind::Docs { json!({}) } else { json!([]) };
        let file = folder.join(kind.file_name());
        write_whole(&file, &indexes.json(kind).unwrap_or(empty))
            .with_context(|| format!("cannot write {}", file.display()))?;
        files.push(WrittenFile { file, entries: indexes.count(kind).unwrap_or_default() });
        let found = indexes.findings(kind).iter();
        findings.extend(
            found.map(|one| WrittenFinding { file: one.file.to_string(), message: one.message.clone() }),
        );
    }
    Ok(Written { library, files, findings })
}

/// Replaces a file whole, so that readers never see half of it.
fn write_whole(file: &Path, value: &Value) -> io::Result<()> {
    let unfinished = file.with_extension("json.new");
    fs::write(&unfinished, format!("{value:#}\n"))?;
    fs::rename(unfinished, file)
}
