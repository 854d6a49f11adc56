//! The data folder: databases, clones and indexes are below it.

use std::{fs, io, path::Path};

use rustix::fs::{Access, access};

/// Creates the data folder, unless it is there, and makes sure that it can be written.
pub(crate) fn prepare(folder: &Path) -> anyhow::Result<()> {
    let usable = fs::create_dir_all(folder).and_then(|()| writable(folder));
    usable.map_err(|error| anyhow::anyhow!(message(folder, &error)))
}

/// Why the data folder can't be used, if so; creates nothing.
pub(crate) fn problem(folder: &Path) -> Option<String> {
    let existing = folder.ancestors().find(|folder| folder.symlink_metadata().is_ok())?;
    let is_folder = existing.metadata().map(|meta| meta.is_dir());
    let usable = match is_folder {
        Ok(true) => writable(existing),
        Ok(false) => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) => Err(error),
    };
    usable.err().map(|error| message(folder, &error))
}

fn writable(folder: &Path) -> io::Result<()> {
    Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

fn message(folder: &Path, error: &io::Error) -> String {
    format!(
        "cannot write to the data folder {}: {}; make it writable, or name another with --data-dir",
        folder.display(),
        error.kind()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_can_not_be_there_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let inside = file.join("data");
        let expected = format!(
            "cannot write to the data folder {}: not a directory; make it writable, or name another with --data-dir",
            inside.display()
        );
        assert_eq!(problem(&inside).as_deref(), Some(expected.as_str()));
        assert_eq!(prepare(&inside).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_folder_is_created_when_it_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("a/b");
        assert_eq!(problem(&data), None);
        assert!(!data.exists());
        prepare(&data).unwrap();
        assert!(data.is_dir());
    }
}
