//! Whatever happens in a repository, the stored result equals that of a fresh program.

mod documents;
mod folder;
mod histories;
mod names;

use std::collections::BTreeMap;

use lyceum_store::{
    Db,
    documents::{FileState, files},
};

use super::stage::{Program, Shelf, Stage, knowledge};

/// Syncs the work tree, and compares the result with a fresh program.
async fn check(stage: &Stage, program: &Program) -> Shelf {
    stage.brings_in(program).await;
    stage.check_equal_to_scratch(program).await
}

/// The files that are served.
fn paths(shelf: &Shelf) -> Vec<&str> {
    shelf.ids().into_keys().collect()
}

/// The files that are listed with a reason, and the reason.
fn listed(stage: &Stage) -> BTreeMap<String, String> {
    let db = Db::open(&knowledge(&stage.data()).unwrap().join("lyceum.db")).unwrap();
    let all = db.read_blocking(|tx| files(tx, "kb")).unwrap();
    let listed = all.into_iter().filter(|file| matches!(file.state, FileState::Skipped | FileState::Failed));
    listed.map(|file| (file.path, file.reason.unwrap())).collect()
}
