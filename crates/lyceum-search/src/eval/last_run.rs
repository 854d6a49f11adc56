//! The last run of a set, saved next to its index, so that the next run can be compared with it.

use std::{fs, io, path::Path};

use super::Report;

/// The file.
const NAME: &str = "last.json";

/// The last run, if there is one that can be read. Blocks.
pub fn last_run(folder: &Path) -> Option<Report> {
    let text = fs::read(folder.join(NAME)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Saves a run as the last one, with the modes of the run before that it did not use. Blocks.
pub fn save_last_run(folder: &Path, report: &Report) -> io::Result<()> {
    let mut all = report.clone();
    let is_in_report =
        |stage: &super::Stage| report.stages.iter().any(|reported| reported.mode == stage.mode);
    let before = last_run(folder).into_iter().flat_map(|last| last.stages);
    all.stages.extend(before.filter(|stage| !is_in_report(stage)));
    fs::create_dir_all(folder)?;
    let new = folder.join("last.json.new");
    fs::write(&new, serde_json::to_vec(&all)?)?;
    // In one step: whoever reads meanwhile sees the one or the other.
    fs::rename(new, folder.join(NAME))
}
