//! What became of drafts: the state of their pull requests.

use std::{sync::PoisonError, time::Duration};

use futures::future::join_all;
use jiff::Timestamp;
use lyceum_source::github::{PullRequestState, Remote};
use lyceum_store::drafts::{self, Draft, Progress, State};
use lyceum_tools::Error;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use super::publishing::token;
use crate::{Destination, Knowledge, service::db_error};

/// Maximum number of drafts whose state is read from GitHub at a time.
const MAX_CHECKED: i64 = 50;

/// How often the states are read from GitHub.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Timeout of reading them.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// A draft as it appears in lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftSummary {
    /// Its id; its branch is `lyceum/{id}`
    pub id: String,
    /// `queued` (not published yet), `open`, `merged`, `closed` (pull request), `pushed` (branch without a pull request)
    /// or `failed`
    pub state: &'static str,
    /// Its type
    pub content_type: String,
    /// Its title
    pub title: String,
    /// The file that it adds
    pub path: String,
    /// Its branch
    pub branch: String,
    /// Its commit
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// The web page of its pull request, or of its file on the branch
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Who approved it, if they signed in
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Who merged or closed the pull request
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
    /// Why the last attempt to publish it failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was approved
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// When its state changed
    #[schemars(with = "String")]
    pub changed_at: Timestamp,
}

/// A list of drafts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DraftList {
    /// The drafts, newest first
    pub drafts: Vec<DraftSummary>,
}

impl From<Draft> for DraftSummary {
    fn from(draft: Draft) -> Self {
        let progress = draft.progress;
        Self {
            id: draft.id,
            state: progress.state.as_str(),
            content_type: draft.content_type,
            title: draft.title,
            path: draft.path,
            branch: draft.branch,
            commit_sha: progress.commit,
            url: progress.url,
            approved_by: draft.subject,
            ended_by: progress.ended_by,
            error: progress.error,
            created_at: draft.created,
            changed_at: progress.changed,
        }
    }
}

impl Knowledge {
    /// The newest drafts, with the current state of their pull requests; all, or those in one state.
    pub(crate) async fn list_drafts(&self, state: Option<State>, max: i64) -> Result<DraftList, Error> {
        self.check_pull_requests().await?;
        let source = self.options.key();
        let rows = self.db.read(move |tx| drafts::newest(tx, &source, state, max)).await;
        Ok(DraftList { drafts: rows.map_err(db_error)?.into_iter().map(DraftSummary::from).collect() })
    }

    /// Reads the states of open pull requests from GitHub. If that fails, the last known ones stay.
    async fn check_pull_requests(&self) -> Result<(), Error> {
        let Destination::GitHub { github, identity, repo } = &self.draft_options()?.destination else {
            return Ok(());
        };
        if !self.may_check_drafts() {
            return Ok(());
        }
        let source = self.options.key();
        let open = self.db.read(move |tx| drafts::newest(tx, &source, Some(State::Open), MAX_CHECKED)).await;
        let Ok(token) = &token(identity).await else { return Ok(()) };
        let remote = &Remote { github, token, repo, deadline: Instant::now() + CHECK_TIMEOUT };
        let checks = open.map_err(db_error)?.into_iter().filter_map(|draft| {
            let number = draft.progress.number?;
            Some(async move { (draft, remote.pull_request(number).await) })
        });
        for (draft, found) in join_all(checks).await {
            let state = match &found {
                Err(error) => {
                    tracing::warn!(draft.id = draft.id, %error, "the state of a pull request can't be read");
                    continue;
                }
                Ok(found) => match found.state {
                    PullRequestState::Open => continue,
                    PullRequestState::Merged => State::Merged,
                    PullRequestState::Closed => State::Closed,
                },
            };
            let ended_by = found.ok().and_then(|found| found.ended_by);
            let progress = Progress { state, changed: Self::now(), ended_by, ..draft.progress };
            let set = move |tx: &lyceum_store::Tx<'_>| {
                drafts::set_progress(tx, &draft.source, &draft.id, &progress)
            };
            self.db.write(self.options.about(), set).await.map_err(db_error)?;
        }
        Ok(())
    }

    /// Whether the states were not read just now.
    fn may_check_drafts(&self) -> bool {
        let now = std::time::Instant::now();
        let mut last = self.last_draft_check.lock().unwrap_or_else(PoisonError::into_inner);
        let may = last.is_none_or(|last| now.duration_since(last) >= CHECK_INTERVAL);
        if may {
            *last = Some(now);
        }
        may
    }
}
