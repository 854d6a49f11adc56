//! The index that questions are asked of, at work for as long as they are, and the line that says how far it is.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    io::{self, IsTerminal, Write},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use lyceum_search::{
    Mode, Page, Search, State, Status,
    eval::{Asked, beir},
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{config::Config, search};

/// How long what is under way may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// How long a reranker may take to be ready.
const RANKED_WITHIN: Duration = Duration::from_secs(120);

/// How often a line is written where nobody sees it change.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// An index that is open.
pub(super) struct Index {
    pub(super) search: Arc<Search>,
    stop: CancellationToken,
    work: JoinSet<()>,
}

impl Index {
    /// The index of a test set, with its pages in it. What was embedded before is not embedded again.
    pub(super) async fn of_set(
        config: &Config,
        folder: &Path,
        pages: Vec<Page>,
        modes: &[Mode],
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        // Made again each time, which takes a moment: the words as this program reads them are what is evaluated.
        match fs::remove_dir_all(folder.join("words")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let index = Self::open(config, folder, modes);
        let filled = index.fill(pages, progress).await;
        match filled {
            Ok(()) => Ok(index),
            Err(error) => {
                index.close().await;
                Err(error)
            }
        }
    }

    /// The index of the configured sources, as it is.
    pub(super) async fn of_sources(config: &Config, modes: &[Mode]) -> anyhow::Result<Self> {
        let folder = config.data_dir.join("search");
        if !folder.is_dir() {
            bail!("nothing is indexed yet; run `lyceum sync` or `lyceum serve` first");
        }
        Ok(Self::open(config, &folder, modes))
    }

    fn open(config: &Config, folder: &Path, modes: &[Mode]) -> Self {
        let mut options = search::options(config, folder.to_owned());
        if modes == [Mode::Words] {
            options.embedder = None;
        }
        let search = Arc::new(Search::new(options));
        let stop = CancellationToken::new();
        let mut work = JoinSet::new();
        work.spawn(search.clone().keep_open(stop.clone()));
        work.spawn(search.clone().keep_filled(stop.clone()));
        Self { search, stop, work }
    }

    /// Waits for the reranker, where there is one: answers shall not be poorer for coming early.
    pub(super) async fn until_ranked(&self) {
        // Where it is not ready by then, each answer says so.
        let ready = self.search.clone().keep_ranked(self.stop.clone());
        let _late = tokio::time::timeout(RANKED_WITHIN, ready).await;
    }

    async fn fill(&self, pages: Vec<Page>, progress: &Progress) -> anyhow::Result<()> {
        progress.say(&format!("indexing {} documents by words", pages.len()));
        let wanted: HashMap<String, String> =
            pages.iter().map(|page| (page.facts.key(), page.version.clone())).collect();
        let plan = self.search.plan(beir::SOURCE, wanted).await.context("the index can't be used")?;
        let pages = pages.into_iter().filter(|page| plan.read.binary_search(&page.facts.key()).is_ok());
        let is_done = self.search.apply(beir::SOURCE, pages.collect(), plan.gone).await?;
        if !is_done {
            bail!("another `lyceum eval` is at work on this set; wait until it has ended");
        }
        Ok(())
    }

    /// Ends what is at work.
    pub(super) async fn close(mut self) {
        self.stop.cancel();
        let ended = async { while self.work.join_next().await.is_some() {} };
        if tokio::time::timeout(ENDS_WITHIN, ended).await.is_err() {
            self.work.abort_all();
        }
    }
}

/// One line on standard error that says how far it is; where that is no terminal, a line now and then.
pub(super) struct Progress {
    is_terminal: bool,
    state: RefCell<Shown>,
}

#[derive(Default)]
struct Shown {
    at: Option<Instant>,
    /// When embedding began, and how many passages had no vector then.
    embedding: Option<(Instant, i64)>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), state: RefCell::default() }
    }

    /// Says something, if it was not said a moment ago.
    pub(super) fn say(&self, text: &str) {
        let mut state = self.state.borrow_mut();
        let pause = if self.is_terminal { Duration::from_millis(100) } else { LINE_EVERY };
        if state.at.is_some_and(|at| at.elapsed() < pause) {
            return;
        }
        state.at = Some(Instant::now());
        // Whoever closed standard error does not want to know.
        let _ = if self.is_terminal {
            write!(io::stderr(), "\r\u{1b}[K{text}")
        } else {
            writeln!(io::stderr(), "{text}")
        };
    }

    pub(super) fn filling(&self, status: &Status) {
        let Status { chunks, pending, .. } = status;
        match status.state {
            State::Preparing => self.say("getting the model ready"),
            State::Embedding => {
                let now = Instant::now();
                let (since, first) = *self.state.borrow_mut().embedding.get_or_insert((now, *pending));
                let done = (first - pending).max(0);
                let speed = done as f64 / since.elapsed().as_secs_f64().max(0.001);
                self.say(&format!("embedding: {} of {chunks} passages, {speed:.0}/s", chunks - pending));
            }
            State::Ready | State::Opening | State::Degraded => {}
        }
    }

    pub(super) fn asking(&self, asked: Asked) {
        let Asked { mode, done, of } = asked;
        self.say(&format!("asking by {}: {done} of {of}", super::table::word(mode)));
    }

    /// Takes the line away.
    pub(super) fn end(&self) {
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}
