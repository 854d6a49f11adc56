//! The table `[skills]` and the variables of the skills service.

use std::path::PathBuf;

use lyceum_content::skill::Overlay;
use lyceum_model::RelPath;

use super::{Location, SkillsService, Source, check::Checker, raw};

/// Where the skills are: what the schema alone can't promise.
pub(super) struct Place {
    source: Source,
    path: Option<RelPath>,
    workspace: Option<PathBuf>,
}

/// Finds the source among those that are declared.
pub(super) fn place(checker: &mut Checker<'_>, sources: &[Source]) -> Option<Place> {
    let name = checker.text("/skills/source")?;
    let source = sources.iter().find(|source| source.name.as_str() == name).cloned();
    if source.is_none() {
        let message = format!("no [[source]] is named {name:?}; add one, or name one that is there");
        checker.fault("/skills/source", message);
    }
    let path = checker.text("/skills/path").map(RelPath::parse).transpose();
    let path = path.unwrap_or_else(|error| {
        checker.fault("/skills/path", error.to_string());
        None
    });
    let endpoint = checker.text("/skills/analytics/endpoint").unwrap_or_default();
    if let Some(error) = Some(endpoint)
        .filter(|text| !text.is_empty())
        .and_then(|text| lyceum_skills::analytics::Endpoint::parse(text).err())
    {
        checker.fault("/skills/analytics/endpoint", error.to_string());
    }
    let workspace = workspace(checker);
    Some(Place { source: source?, path, workspace })
}

/// The folder that scripts may work in.
fn workspace(checker: &mut Checker<'_>) -> Option<PathBuf> {
    const KEY: &str = "/skills/scripts/workspace";
    let Some(written) = checker.text(KEY) else {
        if checker.text("/skills/scripts/workspace_access").is_some() {
            let message =
                "says how scripts.workspace may be used, and there is none; add it, or leave this out";
            checker.fault("/skills/scripts/workspace_access", message.to_owned());
        }
        return None;
    };
    let path = checker.path(written);
    if !path.is_dir() {
        checker.fault(KEY, format!("there is no folder {}", path.display()));
    }
    Some(path)
}

/// Puts the checked place and the settings together.
pub(super) fn service(raw: raw::Skills, place: Place) -> SkillsService {
    let raw::Skills { matching, mut refresh, mut scripts, assets, analytics, .. } = raw;
    scripts.workspace = place.workspace;
    if let (Location::Repository(repository), None) = (&place.source.location, refresh.interval_minutes) {
        refresh.interval_minutes = repository.poll_minutes;
    }
    let overlay = Overlay { matching, refresh, scripts, assets, analytics };
    SkillsService { source: place.source, path: place.path, overlay }
}
