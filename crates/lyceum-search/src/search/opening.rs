//! Opens and repairs the index, then follows changes of other processes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lyceum_store::{Db, DbError, Leader, PageSize, Tx, events, leases::Holder, pages};
use tokio_util::sync::CancellationToken;

use super::{OpenIndex, Opening, Search};
use crate::{failure::Failure, lexical::Lexical, memory::Memory, rerank::Rerank};

/// Name of the index in a database of its own.
const INDEX: &str = "search";

/// How often to look for changes of other processes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Delay before the next attempt to open the index.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// Delay before the next attempt to load the reranker.
const RERANKER_RETRY_DELAY: Duration = Duration::from_secs(30);

/// How often old events are deleted, and how many are retained for followers. A follower that is further behind reloads
/// everything.
const TRIM_INTERVAL: Duration = Duration::from_secs(3600);
const RETAINED_EVENTS: i64 = 10_000;

impl Search {
    /// Opens the index and follows changes of other processes until cancelled.
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
        let mut last_trim: Option<Instant> = None;
        loop {
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = stop.cancelled() => return opened.release().await,
            }
            let search = self.clone();
            let followed = opened.clone();
            let polled = tokio::task::spawn_blocking(move || search.poll(&followed)).await;
            if let Ok(Err(error)) = polled {
                tracing::warn!(error.cause = %error, "could not read changes of the search index");
            }
            if last_trim.is_none_or(|before| before.elapsed() > TRIM_INTERVAL)
                && self.is_leader()
                && !self.is_follower(&opened)
            {
                last_trim = Some(Instant::now());
                if let Err(error) = opened.trim(RETAINED_EVENTS).await {
                    tracing::warn!(error.cause = %error, "could not delete old events of the search index");
                }
            }
        }
    }

    /// Loads the reranker. When cancelled, flushes its cache.
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
            rerank.flush().await;
        }
    }

    /// Loads the reranker, if any; for one-off commands.
    pub async fn prepare_reranker(&self) {
        if let Some(ranking) = &self.options.reranker
            && let Err(error) = ranking.reranker.prepare().await
        {
            tracing::warn!(error.cause = %error, "the reranker is not ready");
        }
    }

    /// Opens the index, without following changes.
    pub(crate) async fn open_once(self: &Arc<Self>) -> Result<Arc<OpenIndex>, Failure> {
        if let Some(opened) = self.opened_now() {
            return Ok(opened);
        }
        let search = self.clone();
        let span = tracing::Span::current();
        let opened = tokio::task::spawn_blocking(move || span.in_scope(|| search.open_here())).await;
        let opened = Arc::new(opened.map_err(|error| Failure::of_task(&error))??);
        self.opening.send_replace(Opening::Done(opened.clone()));
        Ok(opened)
    }

    fn open_here(&self) -> Result<OpenIndex, DbError> {
        let folder = &self.options.folder;
        std::fs::create_dir_all(folder).map_err(DbError::Folder)?;
        let is_leader = self.is_leader();
        let file = folder.join("search.db");
        let load = |db: Db| {
            let name = self.options.shared.as_ref().map_or(INDEX, |(_, name)| name);
            let index = match db.read_blocking(|tx| pages::find_index(tx, name))? {
                Some(index) => index,
                None => {
                    let name = name.to_owned();
                    db.write_blocking("indexes", move |tx| pages::create_index(tx, &name))?
                }
            };
            let memory = db.read_blocking(|tx| Memory::load(tx, index, None))?;
            Ok((db, index, memory))
        };
        let shared = self.options.shared.as_ref().map(|(db, _)| db.clone());
        let is_file = shared.is_none();
        let (db, index, memory) = match shared.map_or_else(|| Db::open(&file), Ok).and_then(load) {
            // Leader only: a process that has the file open would keep using the deleted one.
            Err(DbError::Corrupt(_) | DbError::MarkedCorrupt | DbError::Content(_))
                if is_leader && is_file =>
            {
                Db::recreate(&file, PageSize::Small).and_then(load)?
            }
            opened => opened?,
        };
        let rerank = self.options.reranker.as_ref();
        let rerank = rerank.map(|one| Rerank::new(one.reranker.clone(), db.clone(), one.budget));
        let (memory_lock, lexical_lock, lexical_retry, lease) = Default::default();
        let (memory, lexical, holder) = (memory.into(), None.into(), Holder::random()?);
        let opened = OpenIndex {
            db,
            index,
            holder,
            lease,
            memory,
            lexical,
            memory_lock,
            lexical_lock,
            lexical_retry,
            rerank,
        };
        self.open_lexical(&opened, is_leader);
        Ok(opened)
    }

    /// Opens the lexical index. The leader rebuilds a corrupt one.
    pub(crate) fn open_lexical(&self, opened: &OpenIndex, is_leader: bool) {
        let folder = self.options.folder.join("words");
        let stream = pages::stream(opened.index);
        // Needed to check whether the index is valid.
        let counted =
            opened.db.read_blocking(|tx| Ok((events::last(tx, &stream)?, pages::count(tx, opened.index)?.0)));
        let (last, count) = match counted {
            Ok(counted) => counted,
            Err(error) => {
                opened.lexical_retry().failed(Instant::now());
                tracing::warn!(error.cause = %error, "could not read the database; opening the lexical index later");
                return;
            }
        };
        let usable = Lexical::open(&folder).and_then(|lexical| {
            let position = lexical.position()?;
            // Not at an event of this database: it belongs to an earlier one, or the database went back. At the last event
            // with another page count: the list of deleted documents is corrupt, which is in the only file without a
            // checksum.
            let same_count = u64::try_from(count).is_ok_and(|count| count == lexical.count());
            let is_known = || {
                let read = |tx: &Tx<'_>| events::is_known(tx, &stream, position);
                opened.db.read_blocking(read).unwrap_or_default()
            };
            let usable = if position == last { same_count } else { is_known() };
            Ok((lexical, usable))
        });
        let lexical = match usable {
            Ok((lexical, true)) => Ok(lexical),
            Ok((_, false)) if is_leader => Lexical::recreate(&folder),
            Err(error) if is_leader => {
                tracing::error!(error.cause = %error, "the lexical index is corrupt; rebuilding it");
                Lexical::recreate(&folder)
            }
            Ok((lexical, false)) => Ok(lexical),
            Err(error) => Err(error),
        };
        match lexical {
            Ok(lexical) => {
                opened.lexical_retry().succeeded();
                opened.set_lexical(Some(Arc::new(lexical)));
                if is_leader && let Err(error) = Lexical::remove_other_versions(&folder) {
                    tracing::warn!(error.cause = %error, "could not delete a lexical index of another version");
                }
            }
            Err(error) => {
                opened.lexical_retry().failed(Instant::now());
                tracing::error!(error.cause = %error, "the lexical index can't be used");
            }
        }
    }

    /// One round of polling: repairs and updates the index (leader), follows changes (all). Blocks.
    fn poll(&self, opened: &OpenIndex) -> Result<(), DbError> {
        let is_leader = self.is_leader();
        let is_due = opened.lexical_retry().is_due(Instant::now());
        if opened.lexical().is_none() && is_due {
            self.open_lexical(opened, is_leader);
        }
        if is_leader {
            self.catch_up(opened)?;
        }
        self.follow(opened)?;
        self.follow_model(opened)
    }
}

impl OpenIndex {
    /// Deletes events that this process has applied, except for the last `margin`.
    pub(crate) async fn trim(&self, margin: i64) -> Result<usize, DbError> {
        let Some(lexical) = self.lexical() else { return Ok(0) };
        let before = lexical.seen().seq.min(self.memory().position.seq).saturating_sub(margin) + 1;
        if before <= 1 {
            return Ok(0);
        }
        let stream = pages::stream(self.index);
        self.write(move |tx| events::delete_before(tx, &stream, before)).await
    }
}

/// Deletes the index in a folder, so that it is rebuilt. Fails while a process uses it.
pub fn discard(folder: &std::path::Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let Some(_leader) = Leader::try_acquire(folder)? else {
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
