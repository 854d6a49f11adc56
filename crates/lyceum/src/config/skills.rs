//! The table `[skills]` and the variables of the skills service.

use std::{path::PathBuf, sync::Arc};

use lyceum_content::skill::Overlay;
use lyceum_model::RelPath;
use serde::Deserialize;

use super::{Location, SkillsService, Source, Table, check::Checker, raw};
use crate::service::Settings;

/// Validates a table beyond its schema.
pub(crate) fn check(
    checker: &mut Checker<'_>,
    table: &Table,
    sources: &[Source],
) -> Option<Arc<dyn Settings>> {
    let at = table.at.as_str();
    let source = checker.source_named(at, sources);
    let path = checker.text(&format!("{at}/path")).map(RelPath::parse).transpose();
    let path = path.unwrap_or_else(|error| {
        checker.fault(&format!("{at}/path"), error.to_string());
        None
    });
    let endpoint_at = format!("{at}/analytics/endpoint");
    let endpoint = checker.text(&endpoint_at).unwrap_or_default();
    if let Some(error) = Some(endpoint)
        .filter(|text| !text.is_empty())
        .and_then(|text| lyceum_skills::analytics::Endpoint::parse(text).err())
    {
        checker.fault(&endpoint_at, error.to_string());
    }
    let workspace = workspace(checker, at);
    // Schema errors are reported already.
    let raw = raw::Skills::deserialize(&table.values).ok()?;
    Some(Arc::new(service(raw, source?, path, workspace)))
}

/// The workspace folder of scripts.
fn workspace(checker: &mut Checker<'_>, at: &str) -> Option<PathBuf> {
    let (key, access) = (format!("{at}/scripts/workspace"), format!("{at}/scripts/workspace_access"));
    let Some(written) = checker.text(&key) else {
        if checker.text(&access).is_some() {
            let message = "has no effect without scripts.workspace; add that, or remove this";
            checker.fault(&access, message.to_owned());
        }
        return None;
    };
    let path = checker.path(written);
    if !path.is_dir() {
        checker.fault(&key, format!("no such folder: {}", path.display()));
    }
    Some(path)
}

/// Combines validated values and settings.
fn service(
    raw: raw::Skills,
    source: Source,
    path: Option<RelPath>,
    workspace: Option<PathBuf>,
) -> SkillsService {
    let raw::Skills { matching, mut refresh, mut scripts, assets, analytics, .. } = raw;
    scripts.workspace = workspace;
    if let (Location::Repository(repository), None) = (&source.location, refresh.interval_minutes) {
        refresh.interval_minutes = repository.poll_minutes;
    }
    let overlay = Overlay { matching, refresh, scripts, assets, analytics };
    SkillsService { source, path, overlay }
}
