//! Builds the report of a sync.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lyceum_store::documents::{FileRow, FileState};

use super::{Outcome, StoredState, choice::Id, staging::StagedDocument};
use crate::{Counts, FileReason, Knowledge, Report};

impl Knowledge {
    pub(super) fn report(
        &self,
        outcome: &Outcome,
        files: &BTreeMap<String, FileRow>,
        known: &StoredState,
        ids: &BTreeMap<String, Id>,
        version: &str,
        now: Timestamp,
    ) -> Report {
        let in_state = |state: FileState| {
            let in_state = files.values().filter(move |row| row.state == state);
            in_state.map(|row| FileReason {
                path: row.path.clone(),
                reason: row.reason.clone().unwrap_or_default(),
            })
        };
        let is_known = |staged: &&StagedDocument| known.documents.contains_key(&staged.row.path);
        let staged: BTreeSet<&str> =
            outcome.staging.documents.iter().map(|staged| staged.row.path.as_str()).collect();
        let path = |staged: &StagedDocument| staged.row.path.clone();
        let served = |path: &str| files.get(path).is_some_and(|row| row.state == FileState::Published);
        Report {
            source: self.options.name.to_string(),
            commit: version.to_owned(),
            synced_at: Some(now),
            added: outcome.staging.documents.iter().filter(|staged| !is_known(staged)).map(path).collect(),
            changed: outcome.staging.documents.iter().filter(is_known).map(path).collect(),
            removed: (outcome.replaced.iter())
                .filter(|row| !staged.contains(row.path.as_str()))
                .map(|row| row.path.clone())
                .collect(),
            skipped: in_state(FileState::Skipped).collect(),
            failed: in_state(FileState::Failed).collect(),
            hashed_ids: (ids.iter().filter(|(path, id)| !id.is_plain && served(path)))
                .map(|(path, id)| FileReason { path: path.clone(), reason: format!("its id is {}", id.text) })
                .collect(),
            files: Counts::of(&files.values().map(|row| (row.state, 1)).collect::<Vec<_>>()),
            other_files: BTreeMap::new(),
            took_ms: 0,
        }
    }
}
