//! What `lyceum doctor` says of a knowledge base.

use std::fmt::Write;

use lyceum_knowledge::{Knowledge, SyncError};
use lyceum_store::documents::FileState;
use serde::Deserialize;

use crate::{service::Examination, sources};

/// Brings the knowledge base up to date where nobody else does, and names each file that is not as it should be.
pub(super) async fn examine(name: &str, knowledge: &Knowledge) -> anyhow::Result<Examination> {
    let mut out = String::new();
    writeln!(out, "source {}: {}", knowledge.source_name(), sources::location(knowledge.source()))?;
    let (mut is_well, mut is_served) = (true, false);
    match knowledge.sync_once(|_| ()).await {
        Ok(_) => {}
        Err(SyncError::Elsewhere) => {
            is_served = true;
            writeln!(out, "  synced by a running server")?;
        }
        Err(error) => {
            is_well = false;
            writeln!(out, "  sync failed: {error}")?;
        }
    }
    let snapshot = knowledge.snapshot();
    let commit = snapshot.version.as_ref().map(|commit| format!(" at commit {commit}")).unwrap_or_default();
    let files = &snapshot.files;
    writeln!(out, "{name}: {} of {} files are served{commit}", files.published, files.total())?;
    list_files(&mut out, knowledge).await?;
    let (pending_objects, failures) = knowledge.pending_objects().await?;
    for failure in &failures {
        writeln!(out, "  not uploaded  {}: {}", failure.key, failure.error)?;
    }
    // What a server that runs has not stored yet it is about to, unless it failed to.
    let is_stored = pending_objects == 0 || (is_served && failures.is_empty());
    Ok(Examination { text: out, is_well: is_well && is_stored })
}

async fn list_files(out: &mut String, knowledge: &Knowledge) -> anyhow::Result<()> {
    for file in knowledge.files().await? {
        let faults: Vec<Fault> =
            file.faults.as_deref().map(serde_json::from_str).transpose()?.unwrap_or_default();
        if let Some(reason) = &file.reason {
            writeln!(out, "  {}  {}: {reason}", file.state.as_str(), file.path)?;
        }
        // Whoever keeps a document to themselves need not be told what is wrong with it, unless that is why it is kept.
        let matters = |fault: &&Fault| {
            file.state == FileState::Published || ["publish", "draft"].contains(&fault.field.as_str())
        };
        for Fault { field, line, message } in faults.iter().filter(matters) {
            writeln!(out, "  warning  {}:{line}: {field}: {message}", file.path)?;
        }
    }
    Ok(())
}

/// Something in the frontmatter that is not as its type has it, as it is kept.
#[derive(Deserialize)]
struct Fault {
    field: String,
    line: usize,
    message: String,
}
