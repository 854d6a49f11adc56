//! Listings: files by their paths, in order.

use std::{collections::BTreeMap, ops::Bound};

use lyceum_model::RelPath;

/// The files below a folder, or all of them where there is none. Takes no longer than there are files in it.
pub fn files_below<'a, T>(
    files: &'a BTreeMap<RelPath, T>,
    folder: Option<&RelPath>,
) -> impl Iterator<Item = (&'a RelPath, &'a T)> + use<'a, T> {
    let start = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
    let from = files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
    from.take_while(move |(path, _)| path.as_str().starts_with(&start))
}
