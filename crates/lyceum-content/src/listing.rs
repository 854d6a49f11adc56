//! Queries over sorted file listings.

use std::{collections::BTreeMap, ops::Bound};

use lyceum_model::RelPath;

/// Iterates over the files below a folder, or over all files if `None`. A range query: the cost depends on the files in
/// the folder only.
pub fn files_below<'a, T>(
    files: &'a BTreeMap<RelPath, T>,
    folder: Option<&RelPath>,
) -> impl Iterator<Item = (&'a RelPath, &'a T)> + use<'a, T> {
    let start = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
    let from = files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
    from.take_while(move |(path, _)| path.as_str().starts_with(&start))
}
