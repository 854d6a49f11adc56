//! Opening what is kept, whatever state it is in, and following it from then on.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lyceum_store::{Db, DbError, Leader, events, pages};
use tokio_util::sync::CancellationToken;

use super::{OpenIndex, Opening, Search};
use crate::{failure::Failure, lexical::Lexical, memory::Memory, rerank::Rerank};

/// How often what other processes wrote is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How long after a failure to open it is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// How long after a failure to set the reranker up it is tried again.
const RERANKER_RETRY_DELAY: Duration = Duration::from_secs(30);

/// How often events that nobody needs any more are let go, and how many of the last stay for processes that follow: one
/// that is further behind reads everything anew.
const TRIM_INTERVAL: Duration = Duration::from_secs(3600);
const RETAINED_EVENTS: i64 = 10_000;

impl Search {
    /// Opens what is kept, and follows what other processes write, until it is told to stop.
    pub async fn keep_open(self: Arc<Self>, stop: CancellationToken) {
        let opened = loop {
            match self.open_once().await {
                Ok(opened) => break opened,
                Err(failure) => {
                    let detail = &failure.detail;
                    tracing::error!(error.cause = detail, "could not open the search index; retrying");
                    self.opening.send_replace(Opening::Failed(Arc::new(failure)));
                }
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY_DELAY) => {}
                () = stop.cancelled() => return,
            }
        };
        let mut trimmed: Option<Instant> = None;
        loop {
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = stop.cancelled() => return,
            }
            let search = self.clone();
            let followed = opened.clone();
            let look = tokio::task::spawn_blocking(move || search.poll(&followed)).await;
            if let Ok(Err(error)) = look {
                tracing::warn!(error.cause = %error, "could not read changes of the search index");
            }
            if trimmed.is_none_or(|before| before.elapsed() > TRIM_INTERVAL) && self.leads() {
                trimmed = Some(Instant::now());
                if let Err(error) = opened.trim(RETAINED_EVENTS).await {
                    tracing::warn!(error.cause = %error, "could not delete old events of the search index");
                }
            }
        }
    }

    /// Gets the reranker ready; when it is told to stop, waits for scores that are still being written down.
    pub async fn keep_ranked(self: Arc<Self>, stop: CancellationToken) {
        let Some(ranking) = &self.options.reranker else { return };
        while let Err(error) = ranking.reranker.prepare().await {
            tracing::warn!(error.cause = %error, "the reranker is not ready; retrying");
            tokio::select! {
                () = tokio::time::sleep(RERANKER_RETRY_DELAY) => {}
                () = stop.cancelled() => return,
            }
        }
        stop.cancelled().await;
        if let Some(rerank) = self.opened_now().as_ref().and_then(|opened| opened.rerank.as_ref()) {
            rerank.settle().await;
        }
    }

    /// Gets the reranker ready, where there is one; for commands that ask once.
    pub async fn prepare_reranker(&self) {
        if let Some(ranking) = &self.options.reranker
            && let Err(error) = ranking.reranker.prepare().await
        {
            tracing::warn!(error.cause = %error, "the reranker is not ready");
        }
    }

    /// Opens what is kept, once; for commands that ask and end.
    pub(crate) async fn open_once(self: &Arc<Self>) -> Result<Arc<OpenIndex>, Failure> {
        if let Some(opened) = self.opened_now() {
            return Ok(opened);
        }
        let search = self.clone();
        let span = tracing::Span::current();
        let opened = tokio::task::spawn_blocking(move || span.in_scope(|| search.open_here())).await;
        let opened = Arc::new(opened.map_err(|error| Failure::of_work(&error))??);
        self.opening.send_replace(Opening::Done(opened.clone()));
        Ok(opened)
    }

    fn open_here(&self) -> Result<OpenIndex, DbError> {
        let folder = &self.options.folder;
        std::fs::create_dir_all(folder).map_err(DbError::Folder)?;
        let leads = self.leads();
        let file = folder.join("search.db");
        let load = |db: Db| {
            let memory = db.read_here(|tx| Memory::load(tx, None))?;
            Ok((db, memory))
        };
        let (db, memory) = match Db::open(&file).and_then(load) {
            // Whoever has it open would go on with the old one.
            Err(DbError::Damaged(_) | DbError::Suspected | DbError::Content(_)) if leads => {
                Db::renew(&file).and_then(load)?
            }
            opened => opened?,
        };
        let rerank = self.options.reranker.as_ref();
        let rerank = rerank.map(|one| Rerank::new(one.reranker.clone(), db.clone(), one.budget));
        let (following, catching_up, words_again) = Default::default();
        let (memory, lexical) = (memory.into(), None.into());
        let opened = OpenIndex { db, memory, lexical, following, catching_up, words_again, rerank };
        self.open_words(&opened, leads);
        Ok(opened)
    }

    /// Opens the index by words. One that is damaged is made again, by the process that leads.
    pub(crate) fn open_words(&self, opened: &OpenIndex, leads: bool) {
        let folder = self.options.folder.join("words");
        // Without this it can't be told whether the index is a sound one.
        let read = opened.db.read_here(|tx| Ok((events::last(tx)?, pages::count(tx)?.0)));
        let (last, count) = match read {
            Ok(read) => read,
            Err(error) => {
                opened.words_again().failed(Instant::now());
                tracing::warn!(error.cause = %error, "the lexical index is opened once the database can be read");
                return;
            }
        };
        let usable = Lexical::open(&folder).and_then(|lexical| {
            let position = lexical.position()?;
            // Further than the database: it belongs to one that is no more. As far, and with other pages: which of its
            // documents are gone is in the one file without a checksum.
            let is_same = u64::try_from(count).is_ok_and(|count| count == lexical.count());
            Ok((lexical, position < last || (position == last && is_same)))
        });
        let lexical = match usable {
            Ok((lexical, true)) => Ok(lexical),
            Ok((_, false)) if leads => Lexical::renew(&folder),
            Err(error) if leads => {
                tracing::error!(error.cause = %error, "the lexical index is corrupt; rebuilding it");
                Lexical::renew(&folder)
            }
            Ok((lexical, false)) => Ok(lexical),
            Err(error) => Err(error),
        };
        match lexical {
            Ok(lexical) => {
                opened.words_again().went_well();
                opened.set_lexical(Some(Arc::new(lexical)));
                if leads && let Err(error) = Lexical::tidy(&folder) {
                    tracing::warn!(error.cause = %error, "could not delete a lexical index of another version");
                }
            }
            Err(error) => {
                opened.words_again().failed(Instant::now());
                tracing::error!(error.cause = %error, "the lexical index can't be used");
            }
        }
    }

    /// Looks at what this process has to do, or what others did. Blocks.
    fn poll(&self, opened: &OpenIndex) -> Result<(), DbError> {
        let leads = self.leads();
        let is_due = opened.words_again().is_due(Instant::now());
        if opened.lexical().is_none() && is_due {
            self.open_words(opened, leads);
        }
        if leads {
            self.catch_up(opened)?;
        }
        self.follow(opened)?;
        self.follow_model(opened)
    }
}

impl OpenIndex {
    /// Lets go of events that this process has seen, except for so many of the last.
    pub(crate) async fn trim(&self, margin: i64) -> Result<usize, DbError> {
        let Some(lexical) = self.lexical() else { return Ok(0) };
        let up_to = lexical.seen().min(self.memory().seq).saturating_sub(margin);
        if up_to <= 0 {
            return Ok(0);
        }
        self.db.write(move |tx| events::forget(tx, pages::STREAM, up_to)).await
    }
}

/// Deletes the index in a folder, so that it is rebuilt. Not while a process uses it.
pub fn discard(folder: &std::path::Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let Some(_leader) = Leader::try_take(folder)? else {
        return Err(std::io::Error::new(std::io::ErrorKind::ResourceBusy, "another process uses it"));
    };
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            std::fs::remove_dir_all(path)?;
        } else if path.file_name().is_some_and(|name| name != "leader.lock") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
