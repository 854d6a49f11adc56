//! Ingest: pages are written to the database in one transaction, then to the lexical index and into memory.

use std::{
    collections::{BTreeSet, HashMap},
    sync::PoisonError,
    time::Instant,
};

use jiff::Timestamp;
use lyceum_store::{
    DbError, Tx,
    events::{self, Since},
    pages,
};
use sha2::{Digest, Sha256};

use super::{OpenIndex, Search};
use crate::{
    chunk::{self, Chunk},
    error::Error,
    lexical::IndexedPage,
    page::{Facts, Kind, Page},
};

/// Pages per transaction.
const BATCH_PAGES: usize = 200;

/// Pages per commit of the lexical index.
const INDEX_BATCH_PAGES: usize = 1_000;

/// Version of chunking and of the embedded text; a change re-reads all pages.
const CHUNKER_VERSION: u32 = 2;

/// What to ingest so that the index matches a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Keys of new or changed pages.
    pub read: Vec<String>,
    /// Keys of deleted pages.
    pub gone: Vec<String>,
}

impl Search {
    /// Compares the versions of a source's pages with the index. Ignores indexed pages whose keys are not `ours`:
    /// several services may share a source.
    pub async fn plan(
        &self,
        source: &str,
        wanted: HashMap<String, String>,
        ours: impl Fn(&str) -> bool,
    ) -> Result<Plan, Error> {
        let opened = self.opened().await?;
        let (index, source) = (opened.index, source.to_owned());
        let known = opened.db.read(move |tx| pages::versions(tx, index, &source)).await?;
        let known: HashMap<String, String> = known.into_iter().collect();
        let is_new = |(key, version): &(&String, &String)| known.get(*key) != Some(&stored_version(version));
        let mut read: Vec<String> = wanted.iter().filter(is_new).map(|(key, _)| key.clone()).collect();
        let is_gone = |key: &String| ours(key) && !wanted.contains_key(key);
        let mut gone: Vec<String> = known.into_keys().filter(is_gone).collect();
        read.sort_unstable();
        gone.sort_unstable();
        Ok(Plan { read, gone })
    }

    /// Adds pages of a source and removes others. When this returns, lexical search finds them.
    ///
    /// Does nothing and returns `false` if another process is the leader.
    pub async fn apply(
        self: &std::sync::Arc<Self>,
        source: &str,
        pages: Vec<Page>,
        gone: Vec<String>,
    ) -> Result<bool, Error> {
        let opened = self.opened().await?;
        if !self.leads(&opened).await? {
            return Ok(false);
        }
        // The semaphore is never closed, so this always succeeds.
        let _permit = self.ingest_lock.acquire().await;
        let mut gone = Some(gone);
        let mut rest = pages.into_iter().peekable();
        while rest.peek().is_some() || gone.is_some() {
            let batch: Vec<Page> = rest.by_ref().take(BATCH_PAGES).collect();
            let gone = gone.take().unwrap_or_default();
            let source = source.to_owned();
            let rows = tokio::task::spawn_blocking(move || batch.iter().map(row).collect::<Vec<_>>());
            let rows = rows.await.map_err(|_| Error::Closed("chunking failed; see the log".to_owned()))?;
            let (index, now) = (opened.index, Timestamp::now());
            opened.write(move |tx| pages::apply(tx, index, &source, &rows, &gone, now)).await?;
        }
        let search = self.clone();
        let followed = opened.clone();
        let work = move || {
            // Before lexical search finds the pages, so that every result that lacks vectors says so.
            if let Err(error) = search.count_unembedded(&followed) {
                tracing::warn!(error.cause = %error, "could not count the chunks without an embedding");
            }
            search.catch_up(&followed)?;
            search.follow(&followed)
        };
        let span = tracing::Span::current();
        let done = tokio::task::spawn_blocking(move || span.in_scope(work)).await;
        done.map_err(|_| Error::Closed("ingest failed; see the log".to_owned()))??;
        self.unembedded_chunks.notify_one();
        Ok(true)
    }

    /// Updates the lexical index from the database. Blocks.
    pub(super) fn catch_up(&self, opened: &OpenIndex) -> Result<(), DbError> {
        let _permit = opened.lexical_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lexical) = opened.lexical() else { return Ok(()) };
        if !opened.lexical_retry().is_due(Instant::now()) {
            return Ok(());
        }
        match catch_up(opened, &lexical) {
            Ok(()) => opened.lexical_retry().succeeded(),
            Err(CatchUpError::Database(error)) => return Err(error),
            Err(CatchUpError::Index(error)) if error.is_corruption() || lexical.is_corrupt() => {
                tracing::error!(error.cause = %error, "the lexical index is corrupt; rebuilding it");
                opened.lexical_retry().succeeded();
                opened.set_lexical(None);
            }
            // The last commit can still be searched.
            Err(CatchUpError::Index(error)) => {
                if opened.lexical_retry().failed(Instant::now()) {
                    tracing::error!(
                        error.cause = %error,
                        "could not write the lexical index; searching its last state and retrying"
                    );
                }
            }
        }
        Ok(())
    }

    /// Updates the in-memory cache, and reloads the lexical index if another process wrote to it. Blocks.
    pub(super) fn follow(&self, opened: &OpenIndex) -> Result<(), DbError> {
        opened.follow()?;
        // The leader commits to the lexical index some time after the database.
        if let Some(lexical) = opened.lexical()
            && let Err(error) = lexical.refresh()
        {
            tracing::warn!(error.cause = %error, "could not reload the lexical index");
        }
        Ok(())
    }
}

enum CatchUpError {
    Database(DbError),
    Index(crate::lexical::IndexError),
}

fn catch_up(opened: &OpenIndex, lexical: &crate::lexical::Lexical) -> Result<(), CatchUpError> {
    let position = lexical.position().map_err(CatchUpError::Index)?;
    let stream = pages::stream(opened.index);
    let since = opened
        .db
        .read_blocking(|tx| {
            Ok((events::last(tx, &stream)?, events::since(tx, &stream, position, usize::MAX)?))
        })
        .map_err(CatchUpError::Database)?;
    let (last, touched): (_, BTreeSet<i64>) = match since {
        (_, Since::Nothing) => return Ok(()),
        (last, Since::Events(events)) => {
            (last, events.iter().filter_map(|event| event.key.parse().ok()).collect())
        }
        // Deletions may be among the events that are gone, so rebuild from scratch.
        (last, Since::Unknown) => {
            lexical.clear().map_err(CatchUpError::Index)?;
            let read = |tx: &Tx<'_>| pages::all(tx, opened.index);
            let all = opened.db.read_blocking(read).map_err(CatchUpError::Database)?;
            (last, all.into_iter().map(|page| page.id).collect())
        }
    };
    let touched: Vec<i64> = touched.into_iter().collect();
    let batches = touched.len().div_ceil(INDEX_BATCH_PAGES).max(1);
    for number in 0..batches {
        let batch: Vec<i64> =
            touched.iter().skip(number * INDEX_BATCH_PAGES).take(INDEX_BATCH_PAGES).copied().collect();
        let (found, gone) = read(opened, &batch).map_err(CatchUpError::Database)?;
        let texts: Vec<IndexedPage<'_>> =
            found.iter().map(|(id, facts, chunks)| text(*id, facts, chunks)).collect();
        // Only the last batch completes the update.
        let reached = if number + 1 == batches { last } else { position };
        lexical.update(&texts, &gone, reached).map_err(CatchUpError::Index)?;
    }
    Ok(())
}

type PageRows = Vec<(i64, Facts, Vec<(i64, pages::ChunkRow)>)>;

fn read(opened: &OpenIndex, batch: &[i64]) -> Result<(PageRows, Vec<i64>), DbError> {
    opened.db.read_blocking(|tx| {
        let (mut found, mut gone) = (Vec::new(), Vec::new());
        let stored = pages::pages(tx, batch)?;
        let chunks = pages::chunks(tx, batch)?;
        for ((id, stored), chunks) in batch.iter().zip(stored).zip(chunks) {
            match stored {
                Some(stored) => {
                    let facts = serde_json::from_str(&stored.facts)
                        .map_err(|error| DbError::Content(error.to_string()))?;
                    found.push((*id, facts, chunks));
                }
                None => gone.push(*id),
            }
        }
        Ok((found, gone))
    })
}

fn text<'a>(page: i64, facts: &'a Facts, chunks: &[(i64, pages::ChunkRow)]) -> IndexedPage<'a> {
    // Definitions are not headings: their names are in the body already.
    let headed = chunks.iter().filter(|_| facts.kind == Kind::Prose);
    let headings: BTreeSet<&str> = headed.map(|(_, chunk)| chunk.heading.as_str()).collect();
    let body: Vec<&str> = chunks.iter().map(|(_, chunk)| chunk.text.as_str()).collect();
    IndexedPage {
        page,
        title: [&facts.title]
            .into_iter()
            .chain(&facts.aliases)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n"),
        headings: headings.into_iter().collect::<Vec<_>>().join("\n"),
        tags: facts.tags.join("\n"),
        path: &facts.path,
        body: body.join("\n"),
    }
}

/// The stored version of a page, which includes the chunker's version.
fn stored_version(version: &str) -> String {
    format!("{CHUNKER_VERSION}:{version}")
}

/// Chunks a page into database rows.
fn row(page: &Page) -> pages::PageRow {
    let facts = serde_json::to_string(&page.facts).unwrap_or_default();
    let line = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let above = page.first_line.saturating_sub(1);
    let of_body = chunk::chunks(page.facts.kind, &page.body).into_iter().map(|mut chunk| {
        (chunk.first_line, chunk.last_line) = (chunk.first_line + above, chunk.last_line + above);
        chunk
    });
    // The text above the body is somewhere in the lines above it.
    let about = page.about.trim();
    let about = (!about.is_empty()).then(|| Chunk {
        heading: String::new(),
        first_line: 1,
        last_line: above.max(1),
        text: about.to_owned(),
    });
    let chunks = about.into_iter().chain(of_body).map(|chunk| pages::ChunkRow {
        hash: Sha256::digest(passage(&page.facts, &chunk.heading, &chunk.text)).to_vec(),
        first_line: line(chunk.first_line),
        last_line: line(chunk.last_line),
        heading: chunk.heading,
        text: chunk.text,
    });
    pages::PageRow {
        key: page.facts.key(),
        version: stored_version(&page.version),
        chunks: chunks.collect(),
        facts,
    }
}

/// The text to embed for a chunk: title, headings and text.
pub(crate) fn passage(facts: &Facts, heading: &str, text: &str) -> String {
    let mut passage = String::with_capacity(facts.title.len() + heading.len() + text.len() + 8);
    passage.push_str(&facts.title);
    let inner = heading.strip_prefix(facts.title.as_str()).unwrap_or(heading);
    let inner = inner.trim_start_matches([' ', '›']);
    if !inner.is_empty() {
        if !passage.is_empty() {
            passage.push_str(" › ");
        }
        passage.push_str(inner);
    }
    if !passage.is_empty() {
        passage.push('\n');
    }
    match facts.kind {
        Kind::Prose => push_without_targets(&mut passage, text),
        Kind::Code => passage.push_str(text),
    }
    passage
}

/// Appends text without link targets: they carry little meaning, but are a tenth of the tokens of documentation.
fn push_without_targets(passage: &mut String, text: &str) {
    let mut rest = text;
    while let Some((label, after)) = rest.split_once("](") {
        passage.push_str(label);
        passage.push(']');
        rest = match end_of_target(after).and_then(|end| after.get(end..)) {
            Some(after) => after,
            None => {
                passage.push('(');
                after
            }
        };
    }
    passage.push_str(rest);
}

/// End of a link target, if the text starts with one: on one line, and looking like an address.
fn end_of_target(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            '(' => open += 1,
            ')' if open == 0 => return text.get(..at)?.contains(['/', '#', '.', ':']).then_some(at + 1),
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
