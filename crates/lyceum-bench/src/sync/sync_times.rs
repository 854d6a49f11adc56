//! Results of one repository, and their table.

use super::dataset::Dataset;
use super::row::{of_lost, of_memory, of_times};
use super::sync_report::Files;
use crate::figures::median;
use crate::report::{Report, Row, Table};

/// Results; times in milliseconds.
pub(super) struct SyncTimes {
    dataset: &'static Dataset,
    pub(super) files: Files,
    /// Number of Markdown files in Git.
    pub(super) in_git: usize,
    pub(super) cold: Vec<f64>,
    pub(super) same: Vec<f64>,
    pub(super) changed: Vec<f64>,
    /// The same by the program's report: without process start, fetch and uploads.
    pub(super) cold_took: Vec<f64>,
    pub(super) same_took: Vec<f64>,
    pub(super) changed_took: Vec<f64>,
    /// Number of files in the last edit, and how many of them are published.
    pub(super) edited: usize,
    pub(super) changed_documents: usize,
    pub(super) peak_kib: u64,
}

impl SyncTimes {
    /// Empty results.
    pub(super) fn of(dataset: &'static Dataset) -> Self {
        Self {
            dataset,
            files: Files::default(),
            in_git: 0,
            cold: Vec::new(),
            same: Vec::new(),
            changed: Vec::new(),
            cold_took: Vec::new(),
            same_took: Vec::new(),
            changed_took: Vec::new(),
            edited: 0,
            changed_documents: 0,
            peak_kib: 0,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.dataset.name
    }

    /// Number of files missing or surplus in the report.
    fn lost(&self) -> usize {
        self.in_git.abs_diff(self.files.total())
    }

    /// Adds the dataset's summary and table to a report.
    pub(super) fn add_to(&self, report: &mut Report) {
        let Files { published, drafts, unpublished, skipped, failed } = self.files;
        let seconds = median(self.cold.clone()) / 1000.0;
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
        let (documents, files) = (published as f64 / seconds, self.in_git as f64 / seconds);
        report.say(format!("### {}", self.name()));
        report.say(format!(
            "{} files = {published} published + {drafts} drafts + {unpublished} unpublished + {skipped} skipped + \
             {failed} failed. Cold sync: {files:.0} files or {documents:.0} documents per second.",
            self.in_git,
        ));
        let columns = ["`lyceum sync`, milliseconds", "median", "worst"];
        report.add(Table::new(&columns, self.rows()).about(self.name()));
    }

    fn rows(&self) -> Vec<Row> {
        let goals = self.dataset.goals;
        let Self { edited, changed_documents, .. } = self;
        let own = "of which reading and storing, by its own report";
        vec![
            of_times("from an empty data folder", &self.cold, goals.cold),
            of_times(own, &self.cold_took, None),
            of_times("nothing changed", &self.same, goals.same),
            of_times("of which reading and storing", &self.same_took, None),
            of_times(
                format!("{edited} files changed in one commit, {changed_documents} of them served"),
                &self.changed,
                goals.changed,
            ),
            of_times("of which reading and storing", &self.changed_took, None),
            of_memory("peak memory from an empty data folder", self.peak_kib, goals.memory),
            of_lost(self.lost()),
        ]
    }
}
