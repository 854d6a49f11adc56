//! The last run of a set, saved next to its index, so that the next run can be compared with it.

use std::{fs, io, path::Path};

use super::Report;

/// File name.
const FILE_NAME: &str = "last.json";

/// Reads the last run; `None` if missing or unreadable. Blocks.
pub fn last_run(folder: &Path) -> Option<Report> {
    let text = fs::read(folder.join(FILE_NAME)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Saves a run as the last one; modes that it did not cover are carried over from the previous run. Blocks.
pub fn save_last_run(folder: &Path, report: &Report) -> io::Result<()> {
    let mut all = report.clone();
    let is_in_report =
        |stage: &super::Stage| report.stages.iter().any(|reported| reported.mode == stage.mode);
    let before = last_run(folder).into_iter().flat_map(|last| last.stages);
    all.stages.extend(before.filter(|stage| !is_in_report(stage)));
    fs::create_dir_all(folder)?;
    let new = folder.join("last.json.new");
    fs::write(&new, serde_json::to_vec(&all)?)?;
    // Atomic replace: a concurrent reader sees either the old or the new file.
    fs::rename(new, folder.join(FILE_NAME))
}
