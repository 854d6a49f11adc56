//! One repository, brought in round after round: what was found, and its table.

use super::material::Material;
use super::row::{of_lost, of_memory, of_times};
use super::sync_report::Files;
use crate::figures::median;
use crate::report::{Report, Row, Table};

/// What was found; times in milliseconds.
pub(super) struct SyncTimes {
    material: &'static Material,
    pub(super) files: Files,
    /// How many documents there are by Git's own word.
    pub(super) in_git: usize,
    pub(super) cold: Vec<f64>,
    pub(super) same: Vec<f64>,
    pub(super) changed: Vec<f64>,
    /// The same by its own reckoning: without the start of the process, without fetching and without shelving.
    pub(super) cold_took: Vec<f64>,
    pub(super) same_took: Vec<f64>,
    pub(super) changed_took: Vec<f64>,
    /// How many files the last commit changed, and how many of them are served.
    pub(super) edited: usize,
    pub(super) changed_documents: usize,
    pub(super) peak_kib: u64,
}

impl SyncTimes {
    /// Nothing yet.
    pub(super) fn of(material: &'static Material) -> Self {
        Self {
            material,
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
        self.material.name
    }

    /// How many files are not accounted for, or too many are.
    fn lost(&self) -> usize {
        self.in_git.abs_diff(self.files.total())
    }

    /// Says what there is of it, and how long it took.
    pub(super) fn add_to(&self, report: &mut Report) {
        let Files { published, drafts, unpublished, skipped, failed } = self.files;
        let seconds = median(self.cold.clone()) / 1000.0;
        #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
        let (documents, files) = (published as f64 / seconds, self.in_git as f64 / seconds);
        report.say(format!("### {}", self.name()));
        report.say(format!(
            "{} files = {published} published + {drafts} drafts + {unpublished} unpublished + {skipped} skipped + \
             {failed} failed. From nothing {files:.0} files or {documents:.0} documents a second.",
            self.in_git,
        ));
        let columns = ["`lyceum sync`, milliseconds", "median", "worst"];
        report.add(Table::new(&columns, self.rows()).about(self.name()));
    }

    fn rows(&self) -> Vec<Row> {
        let goals = self.material.goals;
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
            of_memory("memory from an empty data folder, at most", self.peak_kib, goals.memory),
            of_lost(self.lost()),
        ]
    }
}
