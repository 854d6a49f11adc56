//! `lyceum eval`: search quality on queries with known answers, compared with the last run.

mod index;
mod table;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use lyceum_knowledge::{SCRIPT, SKILL};
use lyceum_search::{
    Mode,
    eval::{self, Report, Set, Unmatched, beir, compare, questions},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    config::{Config, KnowledgeService},
    search::Index,
};
use index::Progress;

/// The default test set.
const DEFAULT_SET_FILE: &str = "eval.yaml";

/// The arguments of `lyceum eval`.
#[derive(Args)]
pub(super) struct Options {
    /// Folder or Git repository to evaluate, instead of what the configuration names; repeatable
    #[arg(long = "source", value_name = "PATH|GIT-URL")]
    pub(super) sources: Vec<String>,
    /// Test sets in BEIR layout (corpus.jsonl, queries.jsonl, qrels.tsv), or files with queries for the configured
    /// sources [default: eval.yaml]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Run one search mode only [default: all three]
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeArg>,
    /// Print JSON, with every query
    #[arg(long)]
    json: bool,
    /// Run only N evenly spaced queries; the result is not saved
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    queries: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeArg {
    Hybrid,
    Lexical,
    Vector,
}

impl ModeArg {
    fn mode(self) -> Mode {
        match self {
            Self::Hybrid => Mode::Hybrid,
            Self::Lexical => Mode::Lexical,
            Self::Vector => Mode::Vector,
        }
    }
}

/// The evaluation of one test set.
struct SetEvaluation {
    report: Report,
    last: Option<Report>,
    /// Why vector search was skipped, if it was requested.
    skipped_reason: Option<String>,
    /// Expected pages that are not in the index.
    unmatched: Vec<Unmatched>,
}

#[tokio::main]
pub(super) async fn eval(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let default = [PathBuf::from(DEFAULT_SET_FILE)];
    let paths = if options.paths.is_empty() { default.as_slice() } else { options.paths.as_slice() };
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        let evaluated = one(config, options, path).await.with_context(|| path.display().to_string())?;
        if !options.json {
            table::print(&mut io::stdout().lock(), &evaluated)?;
        }
        all.push(evaluated);
    }
    if options.json {
        let all: Vec<Value> = all.iter().map(SetEvaluation::json).collect();
        writeln!(io::stdout().lock(), "{:#}", Value::Array(all))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn one(config: &Config, options: &Options, path: &Path) -> anyhow::Result<SetEvaluation> {
    let wanted = match options.mode {
        Some(mode) => vec![mode.mode()],
        None => vec![Mode::Hybrid, Mode::Lexical, Mode::Vector],
    };
    let progress = Progress::new();
    let (index, mut set, folder) = if path.is_dir() {
        if !beir::is_set(path) {
            bail!(
                "the folder has no corpus.jsonl; name a folder with corpus.jsonl, queries.jsonl and qrels.tsv"
            );
        }
        progress.show("reading the set");
        let set = path.canonicalize()?;
        let beir::Beir { set, pages, hash } = tokio::task::spawn_blocking(move || beir::read(&set)).await??;
        let folder = config.data_dir.join("eval").join(format!("{}-{hash}", set.name));
        (index::of_set(config, &folder, pages, &wanted, &progress).await?, set, folder)
    } else if path.is_file() {
        let set = questions::read(path, |name| types(config, name))?;
        let folder = config.data_dir.join("eval").join(format!("{}-{}", set.name, path_hash(path)?));
        (index::of_sources(config, &wanted)?, set, folder)
    } else {
        bail!("no such file or folder; name a test set in BEIR layout or a file such as eval.yaml");
    };
    let is_whole = sample(&mut set, options.queries);
    let evaluated = evaluate_set(&index, &set, wanted, &folder, &progress).await;
    index.close().await;
    progress.end();
    let evaluated = evaluated?;
    if is_whole {
        eval::save_last_run(&folder, &evaluated.report)
            .with_context(|| format!("could not save the result in {}", folder.display()))?;
    }
    Ok(evaluated)
}

/// Waits for embeddings, then runs the queries.
async fn evaluate_set(
    index: &Index,
    set: &Set,
    mut modes: Vec<Mode>,
    folder: &Path,
    progress: &Progress,
) -> anyhow::Result<SetEvaluation> {
    let filled = eval::until_embedded(&index.search, |status| progress.filling(status)).await;
    let skipped_reason = filled.err().filter(|_| modes.iter().any(|mode| *mode != Mode::Lexical));
    if let Some(reason) = &skipped_reason {
        modes.retain(|mode| *mode == Mode::Lexical);
        if modes.is_empty() {
            bail!(
                "the embedding model is not available: {reason}; run `lyceum doctor`, or use --mode lexical"
            );
        }
    }
    index.until_ranked().await;
    let report = eval::run(&index.search, set, &modes, |step| progress.show_query(step)).await?;
    if report.documents == 0 {
        bail!("nothing is indexed yet; run `lyceum sync` or `lyceum serve` first");
    }
    let unmatched = eval::unmatched(&index.search, set).await?;
    Ok(SetEvaluation { report, last: eval::last_run(folder), skipped_reason, unmatched })
}

impl SetEvaluation {
    fn json(&self) -> Value {
        let last = self.last.as_ref().map(|last| compare::with_last(&self.report, last));
        json!({
            "report": self.report,
            "comparedWithStages": compare::with_stages(&self.report),
            "comparedWithLastRun": last,
            "notAsked": self.skipped_reason,
            "missing": self.unmatched,
        })
    }
}

/// Keeps that many evenly spaced queries; returns whether these are all.
fn sample(set: &mut Set, max: Option<u32>) -> bool {
    let all = set.questions.len();
    let max = max.map_or(all, |max| usize::try_from(max).unwrap_or(all));
    let mut position = 0;
    set.questions.retain(|_| {
        position += 1;
        // Evenly spaced: a query is kept wherever the scaled position reaches the next integer.
        position * max / all > (position - 1) * max / all || max >= all
    });
    max >= all
}

/// A type and its subtypes.
fn types(config: &Config, name: &str) -> Vec<String> {
    if [SKILL, SCRIPT].contains(&name) {
        return vec![name.to_owned()];
    }
    let ontology = config.services_of::<KnowledgeService>().next().map(|(_, knowledge)| &knowledge.ontology);
    let types = ontology.into_iter().flat_map(|ontology| ontology.with_children(name));
    types.map(|one| one.name.clone()).collect()
}

/// Hash of the path of a file: two files of the same name are two sets.
fn path_hash(path: &Path) -> io::Result<String> {
    let digest = Sha256::digest(path.canonicalize()?.as_os_str().as_encoded_bytes());
    Ok(const_hex::encode(digest.first_chunk::<6>().copied().unwrap_or_default()))
}
