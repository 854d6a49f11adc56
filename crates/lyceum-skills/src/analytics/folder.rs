//! The folder of the buffer: which file is where, and how files in it are opened.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::id::Id;

const BATCH: &str = "analytics-batch-";
const COMPLETE: &str = ".jsonl";
const UNFINISHED: &str = ".new";

/// A folder that holds the buffer, the batches and the locks.
#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Makes the folder, for its owner only: what people ask for is theirs.
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
        self.0.join(format!("{BATCH}{id}{COMPLETE}"))
    }

    /// Where a batch is written that has not been the buffer.
    pub(super) fn unfinished(&self, id: Id) -> PathBuf {
        self.0.join(format!("{BATCH}{id}{UNFINISHED}"))
    }

    /// The batches, oldest first.
    pub(super) fn batches(&self) -> io::Result<Vec<Id>> {
        let mut ids = Vec::new();
        self.visit(|name, _| ids.extend(batch_id(name, COMPLETE)))?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// How large the batches are together.
    pub(super) fn batches_bytes(&self) -> io::Result<u64> {
        let mut bytes = 0;
        self.visit(|name, entry| {
            // One that is gone by now was just delivered.
            if batch_id(name, COMPLETE).is_some()
                && let Ok(file) = entry.metadata()
            {
                bytes += file.len();
            }
        })?;
        Ok(bytes)
    }

    /// Unfinished batches, which only a kill leaves behind.
    pub(super) fn left_unfinished(&self) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        self.visit(|name, entry| paths.extend(batch_id(name, UNFINISHED).map(|_| entry.path())))?;
        Ok(paths)
    }

    /// Waits until renames in the folder are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        // Elsewhere a folder can't be opened, and the file system looks after its names itself.
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

/// Opens a file for reading and for adding to its end, and makes it if need be, for its owner only.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn batch_id(name: &str, end: &str) -> Option<Id> {
    Id::parse(name.strip_prefix(BATCH)?.strip_suffix(end)?)
}
