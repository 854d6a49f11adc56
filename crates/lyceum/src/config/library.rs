//! The table `[library]`.

use std::{collections::BTreeMap, sync::Arc};

use lyceum_library::PartKind;
use lyceum_model::RelPath;
use lyceum_source::github::RepoName;
use reqwest::Url;

use super::{LibraryPart, LibraryRead, LibraryService, Location, Source, Table, check::Checker};
use crate::service::Settings;

/// The web base URL of GitHub, unless `auth.github.web` names a GitHub Enterprise server.
const DEFAULT_WEB: &str = "https://github.com";

/// Validates the table beyond its schema.
pub(crate) fn check(
    checker: &mut Checker<'_>,
    table: &Table,
    sources: &[Source],
) -> Option<Arc<dyn Settings>> {
    let at = table.at.as_str();
    let read = checker.document.values.pointer(&format!("{at}/read")).cloned();
    let read: LibraryRead = read.and_then(|read| serde_json::from_value(read).ok()).unwrap_or_default();
    if read == LibraryRead::Caller {
        require_tokens(checker, at);
    }
    let mut parts = BTreeMap::new();
    let mut is_whole = true;
    for kind in PartKind::ALL {
        let at = format!("{at}/{}", kind.as_str());
        if checker.document.values.pointer(&at).is_none() {
            continue;
        }
        match part(checker, &at, sources, read) {
            Some(part) => drop(parts.insert(kind, part)),
            None => is_whole = false,
        }
    }
    if parts.is_empty() && is_whole {
        let message =
            "names no skills, agents or docs; write for example skills = { source = \"team-skills\" }";
        checker.fault(at, message.to_owned());
    }
    Some(Arc::new(LibraryService { parts, read }) as Arc<dyn Settings>).filter(|_| is_whole)
}

/// Reading with the callers' tokens needs callers who send them.
fn require_tokens(checker: &mut Checker<'_>, at: &str) {
    if checker.text("/auth/mode") != Some("github-pat") {
        let message = "is \"caller\" by default: contents are read with the GitHub token of each caller, so write \
            mode = \"github-pat\" in [auth]; or read = \"server\" to let every caller read the server's own copy";
        checker.fault(&format!("{at}/read"), message.to_owned());
    }
}

fn part(checker: &mut Checker<'_>, at: &str, sources: &[Source], read: LibraryRead) -> Option<LibraryPart> {
    let source = checker.source_named(at, sources);
    let path = checker.text(&format!("{at}/path")).map(RelPath::parse).transpose();
    let path = path.map_err(|error| checker.fault(&format!("{at}/path"), error.to_string())).ok()?;
    let source = source?;
    let repo = match read {
        LibraryRead::Caller => Some(repo_of(checker, at, &source)?),
        LibraryRead::Server => None,
    };
    Some(LibraryPart { source, path, repo })
}

/// The repository at GitHub, to which the callers' tokens are for.
fn repo_of(checker: &mut Checker<'_>, at: &str, source: &Source) -> Option<RepoName> {
    let web = checker.text("/auth/github/web").unwrap_or(DEFAULT_WEB);
    let found = match &source.location {
        Location::Repository(repository) => {
            Url::parse(web).ok().and_then(|web| RepoName::of_url(&repository.url, &web))
        }
        Location::Folder(_) | Location::Example => None,
    };
    if found.is_none() {
        let message = format!(
            "the source {:?} is not a repository at {web}, so callers' GitHub tokens can't read it; use its clone URL, \
             set web and api in [auth.github] for GitHub Enterprise, or write read = \"server\"",
            source.name.as_str()
        );
        checker.fault(&format!("{at}/source"), message);
    }
    found
}
