//! Quality of skill routing on real `SKILL.md` folders, as people write them: the skills of github/awesome-copilot, and
//! tasks of our own. The folders are cloned from a bundle that is not part of this repository.

mod score;
mod tasks;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::answers;
use super::lyceum::{Embedder, LoggedServer, Lyceum};
use super::{ACCEPT, milliseconds};
use crate::connection::Connection;
use crate::figures::median;
use crate::modern;
use crate::report::{Report, Row, Table};
use lyceum_harness::exchange::Request;
use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;
pub(super) use score::Score;
pub(super) use tasks::Task;

/// The bundle of the skills.
const BUNDLE: &str = "awesome-copilot.bundle";

/// Timeout of Git, of a model pull, and of embedding all skills.
const GIT_TIMEOUT: Duration = Duration::from_secs(300);
const PULL_TIMEOUT: Duration = Duration::from_secs(900);
const EMBED_TIMEOUT: Duration = Duration::from_secs(600);

/// Goals of the hybrid ranking, on each set of tasks that it was not tuned on.
const MIN_FIRST: f64 = 0.85;
const MIN_AMONG_THREE: f64 = 0.95;
const MIN_NONE: f64 = 0.85;

/// Results of one kind of ranking.
pub(super) struct Measured {
    tune: Score,
    report: Score,
    held_out: Score,
    /// Of `get_skill` over HTTP, in milliseconds.
    times: Vec<f64>,
    /// From the start until all skills are embedded, in seconds.
    embedded_after: Option<f64>,
}

impl Measured {
    /// The scores of each set of tasks.
    fn scores(&self) -> [&Score; 3] {
        [&self.tune, &self.report, &self.held_out]
    }
}

/// Measures both kinds of ranking: without a model, and with the built-in one.
pub(super) fn measure(lyceum: &Lyceum<'_>, data: &Path, models: &Path) -> Result<Report> {
    let bundle = data.join(BUNDLE);
    ensure!(
        bundle.is_file(),
        "no such file: {}; pass the folder of the bundles with --data, or leave this part out with --only speed",
        bundle.display()
    );
    let tasks = tasks::tasks()?;
    let scratch = Scratch::new()?;
    let skills = clone(&bundle, &scratch)?;
    let mut pull = lyceum.command(&skills, &scratch, &Embedder::Local(models.to_owned()))?;
    process::succeed(pull.args(["model", "pull"]), PULL_TIMEOUT)?;
    let lexical = run(lyceum, &skills, &Embedder::None, &tasks)?;
    let hybrid = run(lyceum, &skills, &Embedder::Local(models.to_owned()), &tasks)?;
    Ok(report(&lexical, &hybrid))
}

fn clone(bundle: &Path, scratch: &Scratch) -> Result<PathBuf> {
    let folder = scratch.path().join("skills");
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").args(["clone", "--quiet"]).arg(bundle).arg(&folder);
    process::succeed(&mut git, GIT_TIMEOUT)?;
    Ok(folder)
}

fn run(lyceum: &Lyceum<'_>, skills: &Path, embedder: &Embedder, tasks: &tasks::Tasks) -> Result<Measured> {
    let scratch = Scratch::new()?;
    let started = Instant::now();
    let logged = lyceum.serve_with(skills, &scratch, embedder)?;
    let mut connection = Connection::open(logged.server.addr)?;
    let mode = match embedder {
        Embedder::None => "lexical",
        Embedder::Local(_) => "hybrid",
    };
    until_ranked_by(&logged, &mut connection, mode)?;
    let embedded_after = matches!(embedder, Embedder::Local(_)).then(|| started.elapsed().as_secs_f64());
    let mut times = Vec::new();
    let mut score = |tasks: &[Task]| -> Result<Score> {
        let mut score = Score::default();
        for task in tasks {
            let call = modern::call(1, "get_skill", &json!({ "context": task.task }));
            let started = Instant::now();
            let response = connection.exchange(&modern::post(ACCEPT, &call))?;
            times.push(milliseconds(started));
            let paths = paths(&answers::structured(response)?);
            if let Some(mistake) = score.add(task, &paths) {
                println!("{mode}: {mistake}");
            }
        }
        Ok(score)
    };
    let (tune, report) = (score(&tasks.tune)?, score(&tasks.report)?);
    let held_out = score(&tasks.held_out)?;
    Ok(Measured { tune, report, held_out, times, embedded_after })
}

/// Waits until the server ranks skills that way.
fn until_ranked_by(logged: &LoggedServer, connection: &mut Connection, mode: &str) -> Result<()> {
    let started = Instant::now();
    while started.elapsed() < EMBED_TIMEOUT {
        let response = connection.send(&Request::get("/readyz"))?;
        let ready: Value = serde_json::from_str(&response.body).context("/readyz is not JSON")?;
        if ready.pointer("/skills/ranking").or_else(|| ready.get("ranking")).is_some_and(|one| one == mode) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    logged.server.explain(Err(anyhow::anyhow!("skills are not ranked by {mode} within {EMBED_TIMEOUT:?}")))
}

/// The paths of an answer, best first; empty if no skill fits.
fn paths(answer: &Value) -> Vec<String> {
    let path = |value: &Value| value.get("skill_path").and_then(Value::as_str).map(str::to_owned);
    match answer.get("candidates").and_then(Value::as_array) {
        Some(candidates) => candidates.iter().filter_map(path).collect(),
        None => path(answer).into_iter().collect(),
    }
}

/// The report.
fn report(lexical: &Measured, hybrid: &Measured) -> Report {
    let mut report = Report::default();
    let row = |name: &str, figure: fn(&Score) -> f64| {
        let (lexical, hybrid) = (lexical.scores(), hybrid.scores());
        let all = lexical.into_iter().zip(hybrid).flat_map(|(lexical, hybrid)| [lexical, hybrid]);
        Row::of_figures(name, all.map(|score| format!("{:.2}", figure(score))).collect())
    };
    let with_goal = |name: &str, figure: fn(&Score) -> f64, goal: f64| {
        row(name, figure).at_least(figure(&hybrid.report).min(figure(&hybrid.held_out)), goal)
    };
    let rows = vec![
        with_goal("right skill first", Score::first, MIN_FIRST),
        with_goal("right skill among at most three", Score::among_three, MIN_AMONG_THREE),
        with_goal("\"none\" where no skill fits", Score::none, MIN_NONE),
        row("answered with one skill", Score::single),
        row("of which right", Score::single_right),
    ];
    report.add(Table::new(
        &[
            "share of tasks",
            "tuned on: lexical",
            "hybrid",
            "plain: lexical",
            "hybrid",
            "oblique: lexical",
            "hybrid",
        ],
        rows,
    ));
    let embedded = hybrid.embedded_after.map(|after| format!("{after:.1} s")).unwrap_or_default();
    report.say(format!(
        "{} tasks to tune on; {} plain and {} oblique ones that are only reported; the goals hold for each of the two. `get_skill` over HTTP takes {:.1} ms without a model and {:.1} ms with it \
         (median). All skills are embedded {embedded} after the first start; later starts read the vectors from disk.",
        hybrid.tune.tasks(),
        hybrid.report.tasks(),
        hybrid.held_out.tasks(),
        median(lexical.times.clone()),
        median(hybrid.times.clone()),
    ));
    report
}

/// The folder of models: given, or below `target`.
pub(super) fn models(given: Option<&Path>, default: PathBuf) -> Result<PathBuf> {
    match given {
        Some(folder) if !folder.is_dir() => bail!("no such folder: {}", folder.display()),
        Some(folder) => Ok(std::path::absolute(folder)?),
        None => Ok(default),
    }
}

#[cfg(test)]
mod tests;
