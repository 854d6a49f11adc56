//! Measures how long it takes to store the pages of search and to publish documents: `ingest FOLDER ROUNDS` on SQLite,
//! `ingest postgres://… ROUNDS` on Postgres, in an empty schema. Prints a line per round.
#![allow(clippy::print_stdout, reason = "a measurement, not a product")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use jiff::Timestamp;
use lyceum_net::Secret;
use lyceum_store::{
    Db, PostgresSettings, Tx,
    documents::{self, DocumentRow, FileRow, FileState, SourceRow},
    events::{self, EventKind},
    jobs,
    pages::{self, ChunkRow, PageRow},
};

const PAGES: usize = 2_000;
const PAGES_PER_BATCH: usize = 200;
const CHUNKS_PER_PAGE: usize = 10;
const DOCUMENTS: usize = 5_000;
const DOCUMENTS_PER_BATCH: usize = 50;
const SENTENCE: &str = "the quick brown fox jumps over the lazy dog, ";
const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: ingest FOLDER|URL ROUNDS";
    let (place, rounds) = (args.next().context(usage)?, args.next().context(usage)?.parse::<usize>()?);
    for round in 0..rounds {
        let (db, folder) = if place.starts_with("postgres://") {
            (Db::connect(&PostgresSettings::new(Secret::new(&place)?))?, None)
        } else {
            let folder = Path::new(&place).join(format!("ingest-{}-{round}", std::process::id()));
            (Db::open(&folder.join("lyceum.db"))?, Some(folder))
        };
        let source = format!("source {round}");
        let times = tokio::runtime::Runtime::new()?.block_on(measure(&db, &source))?;
        let [stored, replaced, published] = times.map(|time| time.as_secs_f64() * 1e3);
        println!("ingest_ms {stored:.1} replace_ms {replaced:.1} publish_ms {published:.1}");
        drop(db);
        if let Some(folder) = folder {
            std::fs::remove_dir_all(folder)?;
        }
    }
    Ok(())
}

async fn measure(db: &Db, source: &str) -> Result<[Duration; 3]> {
    let index = db.write("indexes", |tx| pages::create_index(tx, "search")).await?;
    let began = Instant::now();
    ingest(db, index, source, 'a').await?;
    let stored = began.elapsed();
    ingest(db, index, source, 'b').await?;
    let replaced = began.elapsed();
    publish(db, source).await?;
    Ok([stored, replaced - stored, began.elapsed() - replaced])
}

async fn ingest(db: &Db, index: i64, source: &str, version: char) -> Result<()> {
    for batch in 0..PAGES / PAGES_PER_BATCH {
        let numbers = (0..PAGES_PER_BATCH).map(|number| batch * PAGES_PER_BATCH + number);
        let (source, rows) =
            (source.to_owned(), numbers.map(|number| page(number, version)).collect::<Vec<_>>());
        db.write("index", move |tx| pages::apply(tx, index, &source, &rows, &[], NOW)).await?;
    }
    Ok(())
}

fn page(number: usize, version: char) -> PageRow {
    let chunk = |chunk: usize| {
        // Spread like hashes.
        let spread = (number * CHUNKS_PER_PAGE + chunk).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = [spread.to_be_bytes(), chunk.to_be_bytes(), number.to_be_bytes(), [version as u8; 8]];
        ChunkRow {
            hash: hash.concat(),
            heading: "A › B".to_owned(),
            first_line: 1,
            last_line: 20,
            text: SENTENCE.repeat(20),
        }
    };
    PageRow {
        key: format!("note/{number}"),
        version: version.to_string(),
        facts: format!("{{\"title\":\"Page {number}\"}}"),
        chunks: (0..CHUNKS_PER_PAGE).map(chunk).collect(),
    }
}

async fn publish(db: &Db, source: &str) -> Result<()> {
    let name = source.to_owned();
    let sync = db.write(source, move |tx| documents::begin_sync(tx, &name)).await?;
    let bytes: Arc<[u8]> = SENTENCE.repeat(60).into_bytes().into();
    for batch in 0..DOCUMENTS / DOCUMENTS_PER_BATCH {
        let numbers = (0..DOCUMENTS_PER_BATCH).map(|number| batch * DOCUMENTS_PER_BATCH + number);
        let hashes: Vec<String> = numbers.flat_map(hashes).collect();
        let (name, bytes) = (source.to_owned(), bytes.clone());
        let stage = move |tx: &Tx<'_>| {
            documents::put_bodies(tx, &name, sync, hashes.iter().map(|hash| (hash.as_str(), &*bytes)))
        };
        db.write(source, stage).await?;
    }
    let name = source.to_owned();
    db.write(source, move |tx| publish_in(tx, &name, sync)).await?;
    Ok(())
}

fn publish_in(tx: &Tx<'_>, source: &str, sync: i64) -> Result<(), lyceum_store::DbError> {
    let files: Vec<FileRow> = (0..DOCUMENTS).map(file).collect();
    documents::put_files(tx, source, &files)?;
    let rows: Vec<DocumentRow> = (0..DOCUMENTS).map(document).collect();
    documents::put_documents(tx, source, &rows)?;
    let keys = |number: usize| [format!("content/note/{number}.json"), format!("raw/notes/{number}.md")];
    let objects: Vec<(String, String)> =
        (0..DOCUMENTS).flat_map(|number| keys(number).into_iter().zip(hashes(number))).collect();
    jobs::enqueue(tx, source, objects.iter().map(|(key, hash)| (key.as_str(), hash.as_str())), NOW)?;
    let stored: Vec<(EventKind, &str)> = (objects.iter())
        .filter(|(key, _)| key.starts_with("content/"))
        .map(|(key, _)| (EventKind::Stored, key.as_str()))
        .collect();
    events::append(tx, source, stored.into_iter(), NOW)?;
    documents::end_sync(tx, source, sync)?;
    documents::put_source(tx, source, &SourceRow { version: Some("v".to_owned()), ..SourceRow::default() })
}

fn hashes(number: usize) -> [String; 2] {
    [format!("{number:064}"), format!("r{number:063}")]
}

fn file(number: usize) -> FileRow {
    FileRow {
        path: format!("notes/{number}.md"),
        stamp: Some("1".to_owned()),
        digest: Some("d".to_owned()),
        content_type: "note".to_owned(),
        state: FileState::Published,
        reason: None,
        faults: None,
        attempts: 0,
        due: None,
    }
}

fn document(number: usize) -> DocumentRow {
    let [hash, _] = hashes(number);
    DocumentRow {
        path: format!("notes/{number}.md"),
        content_type: "note".to_owned(),
        id: number.to_string(),
        hash,
        version: "v".to_owned(),
        synced_at: NOW,
        title: "T".to_owned(),
        metadata: "{}".to_owned(),
        excerpt: "e".to_owned(),
        first_line: 1,
    }
}
