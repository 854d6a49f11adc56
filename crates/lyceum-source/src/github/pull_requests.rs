//! Pull requests: finding the one of a branch, opening one as a draft, and its state.

use serde::Deserialize;
use serde_json::json;

use super::{Created, Error, Remote, Request};

/// GitHub's message where the plan of a private repository has no draft pull requests.
const NO_DRAFTS: &str = "Draft pull requests are not supported";

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: i64,
    /// Its web page.
    pub url: String,
    /// Its state.
    pub state: PullRequestState,
    /// Who merged or closed it, if GitHub says so.
    pub ended_by: Option<String>,
}

/// The state of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullRequestState {
    /// Open, as a draft or for review.
    Open,
    /// Merged.
    Merged,
    /// Closed without a merge.
    Closed,
}

/// A pull request to be opened.
#[derive(Debug, Clone, Copy)]
pub struct NewPullRequest<'a> {
    /// The title.
    pub title: &'a str,
    /// The description, as markdown.
    pub body: &'a str,
    /// The branch to be merged.
    pub head: &'a str,
    /// The branch to merge into.
    pub base: &'a str,
}

#[derive(Deserialize)]
struct Person {
    login: String,
}

#[derive(Deserialize)]
struct PullRequestBody {
    number: i64,
    html_url: String,
    state: String,
    #[serde(default)]
    merged_at: Option<String>,
    #[serde(default)]
    merged_by: Option<Person>,
}

#[derive(Deserialize)]
struct IssueBody {
    #[serde(default)]
    closed_by: Option<Person>,
}

impl From<PullRequestBody> for PullRequest {
    fn from(body: PullRequestBody) -> Self {
        let state = match (body.merged_at, body.state.as_str()) {
            (Some(_), _) => PullRequestState::Merged,
            (None, "closed") => PullRequestState::Closed,
            (None, _) => PullRequestState::Open,
        };
        let ended_by = body.merged_by.map(|person| person.login);
        Self { number: body.number, url: body.html_url, state, ended_by }
    }
}

impl Remote<'_> {
    /// The pull request of a branch, in whatever state; the first one if there are several.
    pub async fn pull_request_of(&self, branch: &str) -> Result<Option<PullRequest>, Error> {
        let owner = self.repo.as_str().split('/').next().unwrap_or_default();
        let request = Request::get(self.path("pulls"))
            .query("head", format!("{owner}:{branch}"))
            .query("state", "all")
            .query("direction", "asc");
        let found: Vec<PullRequestBody> = self.send(&request).await?.json()?;
        Ok(found.into_iter().next().map(PullRequest::from))
    }

    /// Opens a pull request as a draft, or for review where drafts are not supported.
    pub async fn open_pull_request(&self, new: &NewPullRequest<'_>) -> Result<Created<PullRequest>, Error> {
        let mut is_draft = true;
        loop {
            let body = json!({
                "title": new.title, "body": new.body, "head": new.head, "base": new.base,
                "draft": is_draft, "maintainer_can_modify": true,
            });
            return match self.send(&Request::post(self.path("pulls"), body)).await {
                Ok(opened) => Ok(Created::New(opened.json::<PullRequestBody>()?.into())),
                Err(Error::Status { status: 422, message }) if is_draft && message.contains(NO_DRAFTS) => {
                    is_draft = false;
                    continue;
                }
                Err(error) if error.is_unclear() => Ok(Created::Unclear(error)),
                Err(error) => Err(error),
            };
        }
    }

    /// A pull request in its current state.
    pub async fn pull_request(&self, number: i64) -> Result<PullRequest, Error> {
        let request = Request::get(self.path(&format!("pulls/{number}")));
        let mut found = PullRequest::from(self.send(&request).await?.json::<PullRequestBody>()?);
        if found.state == PullRequestState::Closed {
            let issue = self.send(&Request::get(self.path(&format!("issues/{number}")))).await;
            // Who closed it is a detail that the token may not be allowed to read.
            let issue = issue.and_then(|issue| issue.json::<IssueBody>()).ok();
            found.ended_by = issue.and_then(|issue| issue.closed_by).map(|person| person.login);
        }
        Ok(found)
    }
}
