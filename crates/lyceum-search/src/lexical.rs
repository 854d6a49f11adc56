//! The lexical index (tantivy), on disk, derived from the pages in the database.
//!
//! It can always be rebuilt from the database. Each commit records the last event it includes.

pub(crate) mod analyzer;
mod query;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lyceum_store::events::Position;

use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError, Term,
    directory::{MmapDirectory, error::OpenReadError},
    schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
};

pub(crate) use query::ParsedQuery;

/// Version of schema and analysis; a change rebuilds the index.
const INDEX_VERSION: u32 = 2;

/// Analyzers of the searched fields and of the vocabulary for suggestions.
const STEMMED_ANALYZER: &str = "lyceum";
const PLAIN_ANALYZER: &str = "lyceum-plain";

/// Indexing threads, and their memory budget before a segment is flushed.
const WRITER_THREADS: usize = 2;
const WRITER_BYTES: usize = WRITER_THREADS * 20 * 1024 * 1024;

/// Fields of the schema.
#[derive(Debug, Clone, Copy)]
struct Fields {
    page: Field,
    title: Field,
    headings: Field,
    tags: Field,
    path: Field,
    body: Field,
    /// Unstemmed words, for suggestions and prefix queries.
    vocabulary: Field,
}

impl Fields {
    /// The searched fields and their boosts (ADR 12).
    fn weighted(&self) -> [(Field, f32); 5] {
        [(self.title, 1.0), (self.headings, 0.3), (self.tags, 0.5), (self.path, 0.3), (self.body, 1.0)]
    }
}

/// A page to index.
#[derive(Debug)]
pub(crate) struct IndexedPage<'a> {
    pub page: i64,
    pub title: String,
    pub headings: String,
    pub tags: String,
    pub path: &'a str,
    pub body: String,
}

/// Why the index can't be used. It can be rebuilt in each case.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error("the lexical index is corrupt")]
    Damaged,
    #[error("the lexical index can't be used: {0}")]
    Engine(#[from] TantivyError),
    #[error("the folder of the index can't be used: {0}")]
    Folder(#[from] std::io::Error),
}

impl IndexError {
    /// Whether the files are certainly corrupt.
    pub(crate) fn is_corruption(&self) -> bool {
        match self {
            Self::Damaged
            | Self::Engine(TantivyError::DataCorruption(_) | TantivyError::DeserializeError(_)) => true,
            Self::Engine(TantivyError::OpenReadError(fault)) => {
                matches!(fault, OpenReadError::FileDoesNotExist(_))
            }
            Self::Engine(_) | Self::Folder(_) => false,
        }
    }
}

/// The lexical index.
pub(crate) struct Lexical {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    /// Opened lazily by the first write: only the leader writes.
    writer: Mutex<Option<IndexWriter>>,
    /// The last event visible to searches.
    seen: Mutex<Position>,
}

impl std::fmt::Debug for Lexical {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Lexical").finish_non_exhaustive()
    }
}

impl Lexical {
    /// Opens the index in a folder, or creates an empty one, and verifies all checksums. Blocks.
    pub(crate) fn open(folder: &Path) -> Result<Self, IndexError> {
        // Some files are read before their checksum is verified, and tantivy can panic on corrupt data.
        catch_unwind(AssertUnwindSafe(|| Self::open_unguarded(folder))).unwrap_or(Err(IndexError::Damaged))
    }

    /// Deletes the index and creates an empty one. Leader only.
    pub(crate) fn recreate(folder: &Path) -> Result<Self, IndexError> {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Self::open(folder),
        }
    }

    fn open_unguarded(folder: &Path) -> Result<Self, IndexError> {
        let folder = folder.join(INDEX_VERSION.to_string());
        std::fs::create_dir_all(&folder)?;
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(&folder).map_err(TantivyError::from)?;
        let settings = IndexSettings::default();
        let index = Index::builder().schema(schema).settings(settings).open_or_create(directory)?;
        index.tokenizers().register(STEMMED_ANALYZER, analyzer::analyzer());
        index.tokenizers().register(PLAIN_ANALYZER, analyzer::plain());
        if !index.validate_checksum()?.is_empty() {
            return Err(IndexError::Damaged);
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let lexical = Self { index, reader, fields, writer: Mutex::default(), seen: Mutex::default() };
        *lexical.seen_mut() = lexical.position()?;
        Ok(lexical)
    }

    /// Deletes indexes of other versions in the same folder. Leader only.
    pub(crate) fn remove_other_versions(folder: &Path) -> std::io::Result<()> {
        let own = INDEX_VERSION.to_string();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name() != own.as_str() && entry.file_type()?.is_dir() {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// Whether the files are corrupt. Verifies all checksums.
    pub(crate) fn is_corrupt(&self) -> bool {
        let check = || {
            self.position()?;
            if self.index.validate_checksum()?.is_empty() { Ok(()) } else { Err(IndexError::Damaged) }
        };
        let checked = catch_unwind(AssertUnwindSafe(check)).unwrap_or(Err(IndexError::Damaged));
        checked.is_err_and(|error| error.is_corruption())
    }

    /// The last event included; the default for an empty index.
    pub(crate) fn position(&self) -> Result<Position, IndexError> {
        let payload = self.index.load_metas()?.payload;
        Ok(payload.and_then(|text| Position::parse(&text)).unwrap_or_default())
    }

    /// Number of pages.
    pub(crate) fn count(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Adds and deletes pages and commits.
    pub(crate) fn update(
        &self,
        pages: &[IndexedPage<'_>],
        deleted: &[i64],
        position: Position,
    ) -> Result<(), IndexError> {
        self.write(position, |writer| self.change(writer, pages, deleted))
    }

    /// Deletes all pages and commits.
    pub(crate) fn clear(&self) -> Result<(), IndexError> {
        self.write(Position::default(), |writer| writer.delete_all_documents().map(drop))
    }

    fn write(
        &self,
        position: Position,
        change: impl FnOnce(&IndexWriter) -> Result<(), TantivyError>,
    ) -> Result<(), IndexError> {
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writer = match slot.take() {
            Some(writer) => writer,
            None => self.index.writer_with_num_threads(WRITER_THREADS, WRITER_BYTES)?,
        };
        change(&writer)?;
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&position.to_string());
        commit.commit()?;
        // A writer that failed is dropped and reopened.
        *slot = Some(writer);
        self.reader.reload()?;
        *self.seen_mut() = position;
        Ok(())
    }

    fn change(
        &self,
        writer: &IndexWriter,
        pages: &[IndexedPage<'_>],
        deleted: &[i64],
    ) -> Result<(), TantivyError> {
        for page in deleted.iter().chain(pages.iter().map(|page| &page.page)) {
            writer.delete_term(Term::from_field_i64(self.fields.page, *page));
        }
        for text in pages {
            writer.add_document(self.document(text))?;
        }
        Ok(())
    }

    /// Reloads the index if another process has written to it.
    pub(crate) fn refresh(&self) -> Result<(), IndexError> {
        let position = self.position()?;
        if position != self.seen() {
            self.reader.reload()?;
            *self.seen_mut() = position;
        }
        Ok(())
    }

    /// The last event visible to searches; the default during a rebuild.
    pub(crate) fn seen(&self) -> Position {
        *self.seen_mut()
    }

    fn seen_mut(&self) -> MutexGuard<'_, Position> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn document(&self, text: &IndexedPage<'_>) -> TantivyDocument {
        let Fields { page, title, headings, tags, path, body, vocabulary } = self.fields;
        let mut document = TantivyDocument::default();
        document.add_i64(page, text.page);
        document.add_text(title, &text.title);
        document.add_text(headings, &text.headings);
        document.add_text(tags, &text.tags);
        document.add_text(path, text.path);
        document.add_text(body, &text.body);
        for words in [&text.title, &text.headings, &text.tags, &text.body] {
            document.add_text(vocabulary, words);
        }
        document
    }
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexed = |tokenizer: &str, option: IndexRecordOption| {
        let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(option);
        TextOptions::default().set_indexing_options(indexing)
    };
    let text = indexed(STEMMED_ANALYZER, IndexRecordOption::WithFreqsAndPositions);
    let fields = Fields {
        page: builder.add_i64_field("page", INDEXED | FAST),
        title: builder.add_text_field("title", text.clone()),
        headings: builder.add_text_field("headings", text.clone()),
        tags: builder.add_text_field("tags", text.clone()),
        path: builder.add_text_field("path", text.clone()),
        body: builder.add_text_field("body", text),
        vocabulary: builder.add_text_field("vocabulary", indexed(PLAIN_ANALYZER, IndexRecordOption::Basic)),
    };
    (builder.build(), fields)
}

#[cfg(test)]
mod tests;
