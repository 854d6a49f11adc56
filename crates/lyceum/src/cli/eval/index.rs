//! The index that queries run against, and a progress line.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    io::{self, IsTerminal, Write},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use lyceum_search::{
    Mode, Page, State, Status,
    eval::{self, beir},
};

use crate::{
    config::{Config, KnowledgeService},
    search::{self, Index},
    storage::Storage,
};

/// Interval of progress lines if standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Opens the index of a test set and fills it. Existing embeddings are reused.
pub(super) async fn of_set(
    config: &Config,
    folder: &Path,
    pages: Vec<Page>,
    modes: &[Mode],
    progress: &Progress,
) -> anyhow::Result<Index> {
    // The lexical index is rebuilt each time, which is fast: this version's tokenization is what is evaluated.
    match fs::remove_dir_all(folder.join("words")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let index = open(config, &Storage::default(), folder, modes);
    let filled = fill(&index, pages, progress).await;
    match filled {
        Ok(()) => Ok(index),
        Err(error) => {
            index.close().await;
            Err(error)
        }
    }
}

/// Opens the existing index of the configured sources.
pub(super) fn of_sources(config: &Config, modes: &[Mode]) -> anyhow::Result<Index> {
    let base = config.services_of::<KnowledgeService>().next();
    match base.and_then(|(base, _)| search::folder(config, &base.name)) {
        Some(folder) if folder.is_dir() => {
            let storage = tokio::task::block_in_place(|| Storage::open(config))?;
            Ok(open(config, &storage, &folder, modes))
        }
        _ => bail!("nothing is indexed yet; run `lyceum sync` or `lyceum serve` first"),
    }
}

fn open(config: &Config, storage: &Storage, folder: &Path, modes: &[Mode]) -> Index {
    let mut options = search::options(config, storage, folder.to_owned());
    if modes == [Mode::Lexical] {
        options.embedder = None;
    }
    Index::open(options)
}

async fn fill(index: &Index, pages: Vec<Page>, progress: &Progress) -> anyhow::Result<()> {
    progress.show(&format!("indexing {} documents", pages.len()));
    let wanted: HashMap<String, String> =
        pages.iter().map(|page| (page.facts.key(), page.version.clone())).collect();
    let search = &index.search;
    let plan = search.plan(beir::SOURCE, wanted, |_| true).await.context("cannot use the index")?;
    let pages = pages.into_iter().filter(|page| plan.read.binary_search(&page.facts.key()).is_ok());
    if !search.apply(beir::SOURCE, pages.collect(), plan.gone).await? {
        bail!("another `lyceum eval` is using this set; wait until it ends");
    }
    Ok(())
}

/// One progress line on standard error; if that is not a terminal, a new line now and then.
pub(super) struct Progress {
    is_terminal: bool,
    state: RefCell<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    at: Option<Instant>,
    /// When embedding started, and how many chunks had no vector then.
    embedding: Option<(Instant, i64)>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), state: RefCell::default() }
    }

    /// Shows a text, unless another was shown a moment ago.
    pub(super) fn show(&self, text: &str) {
        let mut state = self.state.borrow_mut();
        let interval = if self.is_terminal { Duration::from_millis(100) } else { LINE_INTERVAL };
        if state.at.is_some_and(|at| at.elapsed() < interval) {
            return;
        }
        state.at = Some(Instant::now());
        // Ignore errors: progress is optional.
        let _ = if self.is_terminal {
            write!(io::stderr(), "\r\u{1b}[K{text}")
        } else {
            writeln!(io::stderr(), "{text}")
        };
    }

    pub(super) fn filling(&self, status: &Status) {
        let Status { chunks, pending, .. } = status;
        match status.state {
            State::Preparing => self.show("loading the model"),
            State::Embedding => {
                let now = Instant::now();
                let (since, first) = *self.state.borrow_mut().embedding.get_or_insert((now, *pending));
                let done = (first - pending).max(0);
                let speed = done as f64 / since.elapsed().as_secs_f64().max(0.001);
                self.show(&format!("embedding: {} of {chunks} passages, {speed:.0}/s", chunks - pending));
            }
            State::Ready | State::Indexing | State::Opening | State::Degraded => {}
        }
    }

    pub(super) fn show_query(&self, step: eval::Progress) {
        let eval::Progress { mode, done, of } = step;
        self.show(&format!("{} search: {done} of {of} queries", super::table::mode_name(mode)));
    }

    /// Clears the line.
    pub(super) fn end(&self) {
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}
