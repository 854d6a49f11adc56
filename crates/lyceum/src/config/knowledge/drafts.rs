//! The table `[knowledge.drafts]`.

use lyceum_model::RelPath;
use lyceum_net::Secret;
use lyceum_source::github::RepoName;
use reqwest::Url;

use super::super::{
    DraftTarget, Drafts, Location, Repository, Source,
    check::{Checker, is_unencrypted},
};

/// The folder for documents of types without a folder.
const DEFAULT_FOLDER: &str = "drafts";

/// URLs of GitHub, unless the configuration names a GitHub Enterprise Server.
const DEFAULT_WEB: &str = "https://github.com";
const DEFAULT_API: &str = "https://api.github.com";

/// Validates the table, for drafts to that source; `None` if there is none, or errors are reported.
pub(super) fn check(checker: &mut Checker<'_>, at: &str, source: &Source) -> Option<Drafts> {
    let at = &format!("{at}/drafts");
    checker.document.values.pointer(at)?;
    let repository = match &source.location {
        Location::Repository(repository) => repository,
        Location::Folder(_) | Location::Example => {
            let message = format!(
                "drafts are pushed to a Git repository, and the source {:?} has none; use a source with url",
                source.name.as_str()
            );
            checker.fault(at, message);
            return None;
        }
    };
    let folder = folder(checker, at);
    let branch = checker.text(&format!("{at}/branch")).unwrap_or(&repository.branch).to_owned();
    let token = token(checker, at);
    let target = target(checker, at, repository, token, &branch);
    Some(Drafts { target: target?, branch, folder: folder? })
}

fn folder(checker: &mut Checker<'_>, at: &str) -> Option<RelPath> {
    let at = format!("{at}/folder");
    let text = checker.text(&at).unwrap_or(DEFAULT_FOLDER).trim_end_matches('/');
    match RelPath::parse(text) {
        Ok(folder) if folder.as_str().split('/').any(|part| part.starts_with('.')) => {
            checker.fault(
                &at,
                format!("{text:?} is hidden, so its documents would not be served; choose another folder"),
            );
            None
        }
        Ok(folder) => Some(folder),
        Err(error) => {
            checker.fault(&at, error.to_string());
            None
        }
    }
}

/// The token, if the table names one.
fn token(checker: &mut Checker<'_>, at: &str) -> Option<Secret> {
    let at = format!("{at}/token_env");
    let variable = checker.text(&at)?;
    let value = checker.variable(&at, variable)?;
    checker.token_in(&at, variable, &value)
}

fn target(
    checker: &mut Checker<'_>,
    at: &str,
    repository: &Repository,
    token: Option<Secret>,
    branch: &str,
) -> Option<DraftTarget> {
    let url = |checker: &mut Checker<'_>, key: &str, default: &'static str| {
        let own = format!("{at}/{key}");
        let text =
            checker.text(&own).or_else(|| checker.text(&format!("/auth/github/{key}"))).unwrap_or(default);
        if is_unencrypted(text) {
            checker.fault(&own, "a token is not sent over plain http; use https".to_owned());
        }
        Url::parse(text).map_err(|_| checker.fault(&own, format!("{text:?} is not a URL"))).ok()
    };
    let (web, api) = (url(checker, "web", DEFAULT_WEB)?, url(checker, "api", DEFAULT_API)?);
    let token_at = format!("{at}/token_env");
    match RepoName::of_url(&repository.url, &web) {
        Some(repo) => {
            // A variable that is not set is reported already.
            if token.is_none() && checker.text(&token_at).is_none() {
                let message = "is missing: pull requests need a GitHub token; name the environment variable that has it";
                checker.fault(&token_at, message.to_owned());
            }
            Some(DraftTarget::GitHub { api, repo, token: token? })
        }
        None if branch != repository.branch => {
            let message = format!(
                "drafts outside of GitHub are based on the branch of the source, {:?}; remove the key",
                repository.branch
            );
            checker.fault(&format!("{at}/branch"), message);
            None
        }
        None => Some(DraftTarget::Git(token)),
    }
}
