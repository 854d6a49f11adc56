//! A sync: what is there now is read, written down in one transaction, and shown.
//!
//! Files are read twice: once to learn what they are, and, where they are served, once more with the id that all of
//! them together gave them. So a sync holds a handful of documents at a time, however many there are.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use lyceum_content::knowledge;
use lyceum_model::{ErrorCode, RelPath};
use lyceum_source::Snapshot;
use lyceum_store::{
    DbError, Key, Tx,
    documents::{self, DocumentRow, FileRow, FileState, SourceRow},
    events::{self, Happened},
    jobs,
};

use crate::{
    Counts, Knowledge, Report, Told,
    document::{self, Document, hash},
    plan::{self, Plan},
    read::{RETRIES, Reader},
    shelve::QUEUE,
    trial::{self, Step},
};

/// How many files are read and staged together.
const TOGETHER: usize = 64;

/// How long so many files may take: two minutes for each of them would be waiting for a disk that is gone.
const READ_WITHIN: Duration = Duration::from_secs(120);

/// How far a sync is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Asking the source for news.
    Fetching,
    /// Reading what changed.
    Reading {
        /// How many files are read.
        done: usize,
        /// How many there are to read.
        of: usize,
    },
    /// Staging what is served.
    Staging {
        /// How many documents are staged.
        done: usize,
        /// How many there are to stage.
        of: usize,
    },
    /// Putting objects where they belong.
    Shelving {
        /// How many are left.
        left: i64,
    },
}

/// Whom to tell how far a sync is.
pub(crate) type Tell = Arc<dyn Fn(Progress) + Send + Sync>;

/// Why a sync failed. What was served before is served on.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The source can't be read.
    #[error(transparent)]
    Source(#[from] lyceum_source::Error),
    /// It can't be written down.
    #[error(transparent)]
    Db(#[from] DbError),
    /// Another process brings this data folder up to date.
    #[error(
        "another process keeps this data folder in sync; ask it (the tool refresh_sources, or POST /api/v1/sources/{{name}}/sync), or use another --data-dir"
    )]
    Elsewhere,
    /// The files took too long.
    #[error("reading {count} files took more than {} seconds; see whether the disk answers", limit.as_secs())]
    TooSlow {
        /// How many.
        count: usize,
        /// The limit.
        limit: Duration,
    },
    /// The lock can't be used.
    #[error("the data folder can't be locked: {}", .0.kind())]
    Lock(#[from] std::io::Error),
    /// A fault of ours.
    #[error("reading the files failed; the log says more")]
    Panicked,
}

impl SyncError {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Source(error) => error.code(),
            Self::Db(error) => error.code(),
            Self::Elsewhere => ErrorCode::Unavailable,
            Self::TooSlow { .. } => ErrorCode::Timeout,
            Self::Lock(_) | Self::Panicked => ErrorCode::InternalError,
        }
    }
}

/// What is known before a sync.
struct Known {
    source: SourceRow,
    files: BTreeMap<String, FileRow>,
    documents: BTreeMap<String, DocumentRow>,
}

/// What a sync writes down.
#[derive(Default)]
struct Outcome {
    files: Vec<FileRow>,
    gone: Vec<String>,
    /// Documents that are served no more, or in another version; by their files.
    replaced: Vec<DocumentRow>,
    staged: Vec<Staged>,
}

/// A document whose bytes are in the database.
struct Staged {
    row: DocumentRow,
    raw_hash: String,
}

impl Knowledge {
    /// Brings the source in and shows it. One at a time; only the process that leads may.
    pub(crate) async fn sync(&self, tell: &Tell) -> Result<Report, SyncError> {
        if !self.lead()? {
            return Err(SyncError::Elsewhere);
        }
        let Ok(_turn) = self.syncing.acquire().await else { return Err(SyncError::Elsewhere) };
        let synced = self.sync_in_turn(tell).await;
        self.note(synced.as_ref().err().map(ToString::to_string));
        synced
    }

    async fn sync_in_turn(&self, tell: &Tell) -> Result<Report, SyncError> {
        let (began, now) = (Instant::now(), Self::now());
        let name = self.options.name.to_string();
        // What is asked for from here on is asked for again.
        let wanted = self.db.read(move |tx| documents::source(tx, &name)).await?.wanted;
        tell(Progress::Fetching);
        let snapshot = self.options.source.refresh().await?;
        let known = self.known().await?;
        let same_rules = known.source.rules == self.options.rules;
        let plan = plan::plan(&known.files, &snapshot, same_rules, now);
        trial::reached(Step::Planned);

        let version = snapshot.version();
        let mut files = known.files.clone();
        let read = self.read_all(&snapshot, &plan, &known, now, tell).await?;
        for path in &plan.gone {
            files.remove(path);
        }
        files.extend(read.iter().chain(&plan.left_out).map(|row| (row.path.clone(), row.clone())));
        let ids = assign(&files);

        let mut outcome = Outcome { gone: plan.gone, ..Outcome::default() };
        outcome.files.extend(read);
        outcome.files.extend(plan.left_out);
        let staging = self.choose(&files, &known, &ids, same_rules, &mut outcome);
        let ahead: Vec<String> = staging.iter().map(|(path, ..)| path.as_str().to_owned()).collect();
        outcome.staged = self.stage_all(&snapshot, staging, &version, now, tell).await?;
        postpone(&mut outcome, &mut files, &ids, &ahead, now);

        let report = self.report(&outcome, &files, &known, &ids, &version, now);
        let is_news = version != known.source.version.clone().unwrap_or_default()
            || !outcome.files.is_empty()
            || !outcome.gone.is_empty()
            || !outcome.replaced.is_empty()
            || !outcome.staged.is_empty()
            || !same_rules
            || wanted != known.source.done;
        if is_news {
            self.publish(outcome, &files, &version, wanted, now).await?;
            trial::reached(Step::Published);
            self.unshelved.notify_one();
            self.follow().await?;
            self.written.notify_one();
        }
        let synced_at = self.shown().synced_at;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Report { synced_at, took_ms, ..report })
    }

    async fn known(&self) -> Result<Known, DbError> {
        let name = self.options.name.to_string();
        let read = self.db.read(move |tx| {
            let files = documents::files(tx, &name)?.into_iter().map(|row| (row.path.clone(), row));
            let served = documents::documents(tx, &name)?.into_iter().map(|row| (row.path.clone(), row));
            Ok(Known {
                source: documents::source(tx, &name)?,
                files: files.collect(),
                documents: served.collect(),
            })
        });
        read.await
    }

    /// Reads the files that the plan names, some at a time on every processor.
    async fn read_all(
        &self,
        snapshot: &Snapshot,
        plan: &Plan,
        known: &Known,
        now: Timestamp,
        tell: &Tell,
    ) -> Result<Vec<FileRow>, SyncError> {
        let of = plan.read.len();
        // Collected first: a stream that borrows from here could not be sent to another thread.
        let batches: Vec<_> = plan
            .read
            .chunks(TOGETHER)
            .map(|paths| {
                let before = |path: &RelPath| known.files.get(path.as_str()).cloned();
                let paths: Vec<_> = paths.iter().map(|path| (path.clone(), before(path))).collect();
                let (snapshot, ontology) = (snapshot.clone(), self.options.ontology.clone());
                let exclude = self.options.exclude.clone();
                aside(paths.len(), move || {
                    let reader = Reader { snapshot: &snapshot, ontology: &ontology, exclude: &exclude, now };
                    paths.iter().map(|(path, before)| reader.read(path, before.as_ref())).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut rows = Vec::with_capacity(of);
        let mut read = stream::iter(batches).buffered(processors());
        while let Some(batch) = read.try_next().await? {
            rows.extend(batch);
            tell(Progress::Reading { done: rows.len(), of });
            trial::reached(Step::Read);
        }
        Ok(rows)
    }

    /// Finds which documents have to be staged, and which are replaced or served no more.
    fn choose(
        &self,
        files: &BTreeMap<String, FileRow>,
        known: &Known,
        ids: &BTreeMap<String, Id>,
        same_rules: bool,
        outcome: &mut Outcome,
    ) -> Vec<(RelPath, String, String)> {
        let mut staging = Vec::new();
        for row in files.values().filter(|row| row.state == FileState::Published) {
            let Some(id) = ids.get(&row.path) else { continue };
            let is_same = known.documents.get(&row.path).is_some_and(|served| {
                let digest = known.files.get(&row.path).and_then(|before| before.digest.as_ref());
                same_rules
                    && (&served.content_type, &served.id) == (&row.content_type, &id.text)
                    && digest.is_some()
                    && digest == row.digest.as_ref()
            });
            if let (false, Ok(path)) = (is_same, RelPath::parse(&row.path)) {
                staging.push((path, id.text.clone(), row.digest.clone().unwrap_or_default()));
            }
        }
        let stays = |served: &&DocumentRow| match files.get(&served.path) {
            // What can't be read now is served as it was, under the id that is still its own.
            Some(row) if row.state == FileState::Failed => {
                ids.get(&served.path).is_some_and(|id| id.text == served.id)
            }
            Some(row) => row.state == FileState::Published,
            None => false,
        };
        let staged: BTreeSet<&str> = staging.iter().map(|(path, ..)| path.as_str()).collect();
        let replaced =
            known.documents.values().filter(|served| !stays(served) || staged.contains(served.path.as_str()));
        outcome.replaced = replaced.cloned().collect();
        staging
    }

    /// Reads documents with their ids, and keeps their bytes in the database until they are shelved.
    async fn stage_all(
        &self,
        snapshot: &Snapshot,
        staging: Vec<(RelPath, String, String)>,
        version: &str,
        now: Timestamp,
        tell: &Tell,
    ) -> Result<Vec<Staged>, SyncError> {
        let of = staging.len();
        if of > 0 {
            // What a sync left behind that never came to its end.
            self.db.write(|tx| documents::sweep_bodies(tx, QUEUE)).await?;
        }
        let batches: Vec<Vec<_>> = staging.chunks(TOGETHER).map(<[_]>::to_vec).collect();
        let built: Vec<_> = batches
            .into_iter()
            .map(|batch| {
                let (snapshot, ontology) = (snapshot.clone(), self.options.ontology.clone());
                let (source, links) = (self.options.name.to_string(), self.options.links.clone());
                let version = version.to_owned();
                aside(batch.len(), move || {
                    let reader = Reader { snapshot: &snapshot, ontology: &ontology, exclude: &[], now };
                    let build = |(path, id, digest): (RelPath, String, String)| {
                        let text = reader.text(&path).ok().filter(|text| hash(text.as_bytes()) == digest)?;
                        let parsed = lyceum_content::document::read(&ontology, &path, &text).ok()?;
                        let document = Document {
                            id,
                            content_type: parsed.content_type,
                            path: path.as_str().to_owned(),
                            content: parsed.body.to_owned(),
                            synced_at: now,
                            commit_sha: version.clone(),
                            source: source.clone(),
                            url: links.to(&version, &path),
                            metadata: parsed.fields,
                        };
                        Some(Built::of(&document, text))
                    };
                    batch.into_iter().map(build).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut staged = Vec::with_capacity(of);
        let mut built = stream::iter(built).buffered(processors());
        let mut done = 0;
        while let Some(batch) = built.try_next().await? {
            done += batch.len();
            let batch: Vec<Built> = batch.into_iter().flatten().collect();
            staged.extend(
                self.db
                    .write(move |tx| {
                        batch.into_iter().map(|one| one.stage(tx)).collect::<Result<Vec<_>, _>>()
                    })
                    .await?,
            );
            tell(Progress::Staging { done, of });
            trial::reached(Step::Staged);
        }
        Ok(staged)
    }

    /// Writes everything down: from here on the new commit counts.
    async fn publish(
        &self,
        outcome: Outcome,
        files: &BTreeMap<String, FileRow>,
        version: &str,
        wanted: i64,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let source = self.options.name.to_string();
        let counts = Counts::of(&files.values().map(|row| (row.state, 1)).collect::<Vec<_>>());
        let row = SourceRow {
            version: Some(version.to_owned()),
            synced_at: Some(now),
            rules: self.options.rules.clone(),
            wanted,
            done: wanted,
        };
        self.db.write(move |tx| write_down(tx, &source, &outcome, &row, counts, now)).await
    }

    fn report(
        &self,
        outcome: &Outcome,
        files: &BTreeMap<String, FileRow>,
        known: &Known,
        ids: &BTreeMap<String, Id>,
        version: &str,
        now: Timestamp,
    ) -> Report {
        let told = |state: FileState| {
            let in_state = files.values().filter(move |row| row.state == state);
            in_state
                .map(|row| Told { path: row.path.clone(), reason: row.reason.clone().unwrap_or_default() })
        };
        let is_known = |staged: &&Staged| known.documents.contains_key(&staged.row.path);
        let staged: BTreeSet<&str> = outcome.staged.iter().map(|staged| staged.row.path.as_str()).collect();
        let path = |staged: &Staged| staged.row.path.clone();
        let served = |path: &str| files.get(path).is_some_and(|row| row.state == FileState::Published);
        Report {
            source: self.options.name.to_string(),
            commit: version.to_owned(),
            synced_at: Some(now),
            added: outcome.staged.iter().filter(|staged| !is_known(staged)).map(path).collect(),
            changed: outcome.staged.iter().filter(is_known).map(path).collect(),
            removed: (outcome.replaced.iter())
                .filter(|row| !staged.contains(row.path.as_str()))
                .map(|row| row.path.clone())
                .collect(),
            skipped: told(FileState::Skipped).collect(),
            failed: told(FileState::Failed).collect(),
            renamed: (ids.iter().filter(|(path, id)| !id.is_plain && served(path)))
                .map(|(path, id)| Told { path: path.clone(), reason: format!("its id is {}", id.text) })
                .collect(),
            files: Counts::of(&files.values().map(|row| (row.state, 1)).collect::<Vec<_>>()),
            took_ms: 0,
        }
    }
}

/// Leaves files for later that were to be staged and changed under our hands, or could not be read a second time. What
/// is served of them is served on.
fn postpone(
    outcome: &mut Outcome,
    files: &mut BTreeMap<String, FileRow>,
    ids: &BTreeMap<String, Id>,
    ahead: &[String],
    now: Timestamp,
) {
    let staged: BTreeSet<&str> = outcome.staged.iter().map(|staged| staged.row.path.as_str()).collect();
    for path in ahead.iter().filter(|path| !staged.contains(path.as_str())) {
        let Some(row) = files.get_mut(path) else { continue };
        row.state = FileState::Failed;
        row.reason = Some("it changed while it was read".to_owned());
        row.stamp = None;
        row.digest = None;
        row.attempts = 1;
        row.due = RETRIES.next(row.attempts, now);
        let is_same = |one: &DocumentRow| {
            one.content_type == row.content_type && ids.get(&one.path).is_some_and(|id| id.text == one.id)
        };
        outcome.replaced.retain(|one| one.path != row.path || !is_same(one));
        outcome.files.retain(|one| one.path != row.path);
        outcome.files.push(row.clone());
    }
}

/// An id, and whether it is the plain name of the file.
struct Id {
    text: String,
    is_plain: bool,
}

/// The ids of all documents, served or not, so that publishing one does not rename another.
fn assign(files: &BTreeMap<String, FileRow>) -> BTreeMap<String, Id> {
    let paths: Vec<(RelPath, &str)> = files
        .values()
        .filter(|row| !row.content_type.is_empty())
        .filter_map(|row| Some((RelPath::parse(&row.path).ok()?, row.content_type.as_str())))
        .collect();
    let ids = knowledge::assign(paths.iter().map(|(path, content_type)| (path, *content_type)));
    let id = |assigned: knowledge::Assigned| Id { text: assigned.id, is_plain: assigned.is_plain };
    ids.into_iter().map(|(path, assigned)| (path.as_str().to_owned(), id(assigned))).collect()
}

/// A document, its file, and what the database knows of both.
struct Built {
    row: DocumentRow,
    bytes: Vec<u8>,
    raw: String,
}

impl Built {
    fn of(document: &Document, raw: String) -> Self {
        let bytes = document.to_bytes();
        let row = DocumentRow {
            path: document.path.clone(),
            content_type: document.content_type.clone(),
            id: document.id.clone(),
            hash: hash(&bytes),
            version: document.commit_sha.clone(),
            synced_at: document.synced_at,
            title: document::title(&document.metadata, &document.content, &document.path),
            metadata: serde_json::Value::Object(document.metadata.clone()).to_string(),
            excerpt: knowledge::excerpt(&document.content),
        };
        Self { row, bytes, raw }
    }

    fn stage(self, tx: &Tx<'_>) -> Result<Staged, DbError> {
        let raw_hash = hash(self.raw.as_bytes());
        documents::put_body(tx, &self.row.hash, &self.bytes)?;
        documents::put_body(tx, &raw_hash, self.raw.as_bytes())?;
        Ok(Staged { row: self.row, raw_hash })
    }
}

/// The one transaction of a sync.
fn write_down(
    tx: &Tx<'_>,
    source: &str,
    outcome: &Outcome,
    row: &SourceRow,
    counts: Counts,
    now: Timestamp,
) -> Result<(), DbError> {
    for path in &outcome.gone {
        documents::remove_file(tx, source, path)?;
    }
    for file in &outcome.files {
        documents::put_file(tx, source, file)?;
    }
    for replaced in &outcome.replaced {
        documents::remove_document(tx, source, &replaced.path)?;
    }
    // What is taken away first and put back after is put in the end.
    let mut objects: BTreeMap<String, &str> = BTreeMap::new();
    for replaced in &outcome.replaced {
        for key in keys(replaced)? {
            objects.insert(key, "");
        }
    }
    for staged in &outcome.staged {
        documents::put_document(tx, source, &staged.row)?;
        let hashes = [staged.row.hash.as_str(), staged.raw_hash.as_str()];
        objects.extend(keys(&staged.row)?.into_iter().zip(hashes));
    }
    for (key, hash) in &objects {
        jobs::ask(tx, QUEUE, key, hash, now)?;
    }
    let happened: Vec<(Happened, &str)> = (objects.iter())
        .filter(|(key, _)| key.starts_with("content/"))
        .map(|(key, hash)| (if hash.is_empty() { Happened::Removed } else { Happened::Stored }, key.as_str()))
        .collect();
    events::append(tx, source, happened.into_iter(), now)?;
    documents::put_source(tx, source, row)?;
    let manifest = manifest(tx, source, row, counts)?;
    let manifest_hash = hash(&manifest);
    documents::put_body(tx, &manifest_hash, &manifest)?;
    jobs::ask(tx, QUEUE, Key::manifest().as_str(), &manifest_hash, now)
}

/// Where a document and its file are kept.
fn keys(row: &DocumentRow) -> Result<[String; 2], DbError> {
    let strange = |error: &dyn std::fmt::Display| DbError::Content(format!("{}: {error}", row.path));
    let content = Key::content(&row.content_type, &row.id).map_err(|error| strange(&error))?;
    let path = RelPath::parse(&row.path).map_err(|error| strange(&error))?;
    let raw = Key::raw(&path).map_err(|error| strange(&error))?;
    Ok([content.as_str().to_owned(), raw.as_str().to_owned()])
}

/// `metadata/manifest.json`: what is served, so that a copy of the objects alone can be checked.
fn manifest(tx: &Tx<'_>, source: &str, row: &SourceRow, counts: Counts) -> Result<Vec<u8>, DbError> {
    let served = documents::documents(tx, source)?;
    let served: Vec<_> = served
        .iter()
        .map(|one| serde_json::json!({ "contentType": one.content_type, "id": one.id, "path": one.path, "sha256": one.hash }))
        .collect();
    let manifest = serde_json::json!({
        "source": source,
        "commitSha": row.version,
        "syncedAt": row.synced_at,
        "files": counts,
        "documents": served,
    });
    Ok(manifest.to_string().into_bytes())
}

/// Does work that blocks where it holds up nobody, within a limit.
async fn aside<T: Send + 'static>(
    count: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SyncError> {
    match tokio::time::timeout(READ_WITHIN, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panicked)) => {
            tracing::error!(error.cause = %panicked, "reading files failed");
            Err(SyncError::Panicked)
        }
        Err(_) => Err(SyncError::TooSlow { count, limit: READ_WITHIN }),
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8)
}
