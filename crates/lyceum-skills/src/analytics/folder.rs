//! The buffer folder: file names, and opening of files.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::id::Id;

const BATCH_PREFIX: &str = "analytics-batch-";
const BATCH_SUFFIX: &str = ".jsonl";
const TEMP_SUFFIX: &str = ".new";

/// The folder of buffer, batches and locks.
#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Creates the folder, accessible by its owner only: tasks are private.
    pub(super) fn create(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.0)
    }

    pub(super) fn buffer(&self) -> PathBuf {
        self.0.join("analytics-buffer.jsonl")
    }

    pub(super) fn buffer_lock(&self) -> PathBuf {
        self.0.join("analytics-buffer.lock")
    }

    pub(super) fn publisher_lock(&self) -> PathBuf {
        self.0.join("analytics-publisher.lock")
    }

    pub(super) fn torn(&self) -> PathBuf {
        self.0.join("analytics-torn.jsonl")
    }

    pub(super) fn batch(&self, id: Id) -> PathBuf {
        self.0.join(format!("{BATCH_PREFIX}{id}{BATCH_SUFFIX}"))
    }

    /// Temporary name of a batch that is written directly, not renamed from the buffer.
    pub(super) fn temp_batch(&self, id: Id) -> PathBuf {
        self.0.join(format!("{BATCH_PREFIX}{id}{TEMP_SUFFIX}"))
    }

    /// The batches, oldest first.
    pub(super) fn batches(&self) -> io::Result<Vec<Id>> {
        let mut ids = Vec::new();
        self.visit(|name, _| ids.extend(batch_id(name, BATCH_SUFFIX)))?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Total size of the batches.
    pub(super) fn batches_bytes(&self) -> io::Result<u64> {
        let mut bytes = 0;
        self.visit(|name, entry| {
            // A batch that vanished was just delivered.
            if batch_id(name, BATCH_SUFFIX).is_some()
                && let Ok(file) = entry.metadata()
            {
                bytes += file.len();
            }
        })?;
        Ok(bytes)
    }

    /// Temporary batches; only a kill leaves them behind.
    pub(super) fn temp_batches(&self) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        self.visit(|name, entry| paths.extend(batch_id(name, TEMP_SUFFIX).map(|_| entry.path())))?;
        Ok(paths)
    }

    /// Fsyncs the folder, so that renames are durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        // On other systems a folder can't be opened, and the file system persists renames itself.
        if cfg!(unix) { File::open(&self.0)?.sync_all() } else { Ok(()) }
    }

    fn visit(&self, mut each: impl FnMut(&str, &fs::DirEntry)) -> io::Result<()> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if let Some(name) = entry.file_name().to_str() {
                each(name, &entry);
            }
        }
        Ok(())
    }
}

/// Opens a file for reading and appending; creates it with owner-only permissions.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn batch_id(name: &str, suffix: &str) -> Option<Id> {
    Id::parse(name.strip_prefix(BATCH_PREFIX)?.strip_suffix(suffix)?)
}
