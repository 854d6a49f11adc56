//! Finds a trustworthy bubblewrap.

use std::{
    fs::Metadata,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Finds the first `bwrap` in the folders. Only root may be able to modify it.
pub(super) fn find(search: &[PathBuf]) -> Result<PathBuf, String> {
    let absolute = search.iter().filter(|folder| folder.is_absolute());
    let Some(found) = absolute.filter_map(|folder| folder.join("bwrap").canonicalize().ok()).next() else {
        return Err("bubblewrap (bwrap) is not installed".to_owned());
    };
    let safe = |path: &Path| path.metadata().is_ok_and(|metadata| only_root_can_modify(&metadata));
    if !found.is_file() || !safe(&found) || !found.parent().is_some_and(safe) {
        return Err(format!("refusing to use {}: users other than root can modify it", found.display()));
    }
    Ok(found)
}

fn only_root_can_modify(metadata: &Metadata) -> bool {
    metadata.uid() == 0 && metadata.mode() & 0o022 == 0
}
