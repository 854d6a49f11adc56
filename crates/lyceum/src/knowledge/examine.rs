//! `lyceum doctor` for a knowledge base.

use std::fmt::Write;

use lyceum_content::document::Publishing;
use lyceum_knowledge::{Knowledge, SyncError};
use lyceum_store::documents::FileState;
use serde::Deserialize;

use crate::{
    finding::counted,
    service::{Examination, Finding},
    sources,
};

/// Syncs the knowledge base, unless another process does, and reports each file with a problem.
pub(super) async fn examine(name: &str, knowledge: &Knowledge) -> anyhow::Result<Examination> {
    let mut out = String::new();
    writeln!(out, "source {}: {}", knowledge.source_name(), sources::location(knowledge.source()))?;
    let (mut is_well, mut is_served) = (true, false);
    match knowledge.sync_once(|_| ()).await {
        Ok(_) => {}
        Err(SyncError::NotLeader) => {
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
    let rule = match snapshot.publishing {
        Some(Publishing::All) => ", all without `publish: false`",
        Some(Publishing::Frontmatter) => ", those with `publish: true`",
        None => "",
    };
    let total = counted(files.total(), "file", "files");
    let are = if files.published == 1 { "is" } else { "are" };
    writeln!(out, "{name}: {} of {total} {are} served{rule}{commit}", files.published)?;
    if let Some(warning) = snapshot.nothing_published() {
        writeln!(out, "  warning  {warning}")?;
    }
    let (pending_objects, failures) = knowledge.pending_objects().await?;
    for failure in &failures {
        writeln!(out, "  not uploaded  {}: {}", failure.key, failure.error)?;
    }
    // A running server uploads pending objects by itself, so only failures count.
    let is_stored = pending_objects == 0 || (is_served && failures.is_empty());
    let findings = findings(knowledge).await?;
    Ok(Examination { text: out, findings, is_well: is_well && is_stored })
}

/// Why files are not served, and what is wrong with those that are.
async fn findings(knowledge: &Knowledge) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in knowledge.files().await? {
        let faults: Vec<Fault> =
            file.faults.as_deref().map(serde_json::from_str).transpose()?.unwrap_or_default();
        if let Some(reason) = &file.reason {
            findings.push(Finding {
                severity: file.state.as_str(),
                path: file.path.clone(),
                line: None,
                field: None,
                message: reason.clone(),
            });
        }
        // Problems of unpublished documents don't matter, unless they are the reason.
        let matters = |fault: &&Fault| {
            file.state == FileState::Published || ["publish", "draft"].contains(&fault.field.as_str())
        };
        findings.extend(faults.into_iter().filter(|fault| matters(&fault)).map(|fault| Finding {
            severity: "warning",
            path: file.path.clone(),
            line: Some(fault.line),
            field: Some(fault.field),
            message: fault.message,
        }));
    }
    Ok(findings)
}

/// A stored frontmatter violation.
#[derive(Deserialize)]
struct Fault {
    field: String,
    line: usize,
    message: String,
}
