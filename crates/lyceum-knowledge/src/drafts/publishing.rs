//! Publishes queued drafts, one after the other: as pull requests at GitHub, or as branches.
//!
//! Each draft is a job. Every step looks for what an earlier attempt left behind, so that a kill, a lost answer or a
//! retry makes neither a second branch nor a second pull request.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_model::RelPath;
use lyceum_net::Backoff;
use lyceum_source::{
    FileCommit, Pushed, Repository,
    github::{self, Created, Identity, NewCommit, NewPullRequest, PullRequest, PullRequestState, Remote},
};
use lyceum_store::{
    DbError, Tx,
    drafts::{self, Draft, Progress, State},
    jobs::{self, Job, Retries},
};
use tokio::time::Instant;

use super::{DraftOptions, proposal::sha256, text::neutral};
use crate::{
    Destination, Knowledge,
    failpoint::{self, Step},
    service::is_uncommitted,
};

/// Author of commits.
const AUTHOR: (&str, &str) = ("lyceum", "lyceum@users.noreply.github.com");

/// Trailer of a commit message, with the id of the draft.
const TRAILER: &str = "Lyceum-Draft";

/// Timeout of one attempt to publish a draft.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(60);

/// Retries of temporary failures.
const RETRIES: Retries = Retries { limit: 20, first: Duration::from_secs(5) };

/// How often to poll the queue without a signal.
const POLL_INTERVAL: Duration = Duration::from_secs(30);

/// Back-off while the database fails.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };

/// Why a draft could not be published.
#[derive(Debug)]
struct Failure {
    why: String,
    retry: Retry,
}

/// Whether and when to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    /// It would fail again.
    Never,
    /// With back-off.
    Later,
    /// After that time.
    After(Duration),
}

impl Knowledge {
    /// Publishes queued drafts, until cancelled.
    pub(crate) async fn keep_publishing_drafts(&self) {
        let Some(options) = &self.options.drafts else { return std::future::pending().await };
        let queue = self.options.draft_queue();
        let revive = move |tx: &Tx<'_>| jobs::release_all(tx, &queue);
        let mut failures = 0;
        // Claims of the previous leader are stale.
        let mut result = self.db.write(self.options.about(), revive).await;
        loop {
            if result.is_ok() {
                result = self.publish_due_drafts(options).await;
            }
            let wait = match &result {
                Ok(()) => {
                    failures = 0;
                    self.next_draft_due().await.min(POLL_INTERVAL)
                }
                Err(error) => {
                    failures += 1;
                    tracing::warn!(error.cause = %error, "publishing drafts failed; retrying");
                    BACKOFF.after(failures)
                }
            };
            tokio::select! {
                () = self.draft_queued.notified() => {}
                () = tokio::time::sleep(wait.max(Duration::from_millis(50))) => {}
            }
            result = Ok(());
        }
    }

    async fn next_draft_due(&self) -> Duration {
        let queue = self.options.draft_queue();
        let due = self.db.read(move |tx| Ok((jobs::next_due(tx, &queue)?, tx.now()?))).await;
        let until = due.ok().and_then(|(due, now)| Duration::try_from(due?.duration_since(now)).ok());
        until.unwrap_or(POLL_INTERVAL)
    }

    async fn publish_due_drafts(&self, options: &DraftOptions) -> Result<(), DbError> {
        loop {
            let (queue, source) = (self.options.draft_queue(), self.options.key());
            let claim = move |tx: &Tx<'_>| {
                let job = jobs::claim(tx, &queue, tx.now()?, ATTEMPT_TIMEOUT.saturating_mul(2), 1)?.pop();
                let Some(job) = job else { return Ok(None) };
                // A call that was repeated meanwhile has queued it again.
                let draft = drafts::find(tx, &source, &job.key)?;
                let draft = draft.filter(|draft| draft.progress.state == State::Queued);
                Ok(Some((job, draft)))
            };
            let Some((job, draft)) = self.db.write(self.options.about(), claim).await? else { return Ok(()) };
            let Some(draft) = draft else {
                let queue = self.options.draft_queue();
                let complete = move |tx: &Tx<'_>| jobs::complete(tx, &queue, &job);
                self.db.write(self.options.about(), complete).await?;
                continue;
            };
            let result = self.attempt_draft(options, &draft).await;
            self.record_attempt(job, draft, result).await?;
            failpoint::reached(Step::DraftStored);
            self.draft_progress.send_modify(|count| *count = count.wrapping_add(1));
        }
    }

    /// Records how an attempt went, and ends its job.
    async fn record_attempt(
        &self,
        job: Job,
        draft: Draft,
        result: Result<Progress, Failure>,
    ) -> Result<(), DbError> {
        let queue = self.options.draft_queue();
        if let Err(failure) = &result {
            tracing::warn!(draft.id = draft.id, error = failure.why, "a draft could not be published");
        }
        let write = move |tx: &Tx<'_>| {
            let now = tx.now()?;
            let failure = match &result {
                Ok(progress) => {
                    drafts::set_progress(tx, &draft.source, &draft.id, progress)?;
                    return jobs::complete(tx, &queue, &job);
                }
                Err(failure) => failure,
            };
            let retry_at = failure.retry_at(job.attempts, now);
            // The base may have been chosen meanwhile.
            let Some(stored) = drafts::find(tx, &draft.source, &draft.id)? else { return Ok(()) };
            let state = if retry_at.is_some() { State::Queued } else { State::Failed };
            let error = Some(failure.why.clone());
            let progress = Progress { state, changed: now, error, ..stored.progress };
            drafts::set_progress(tx, &draft.source, &draft.id, &progress)?;
            match retry_at {
                Some(_) => jobs::fail(tx, &queue, &job, &failure.why, retry_at),
                None => jobs::complete(tx, &queue, &job),
            }
        };
        self.db.write(self.options.about(), write).await
    }

    async fn attempt_draft(&self, options: &DraftOptions, draft: &Draft) -> Result<Progress, Failure> {
        match &options.destination {
            Destination::GitHub { github, identity, repo } => {
                let token = &token(identity).await?;
                let remote = Remote { github, token, repo, deadline: Instant::now() + ATTEMPT_TIMEOUT };
                self.open_pull_request(options, &remote, draft).await
            }
            Destination::Git(repository) => self.push_branch(repository, draft).await,
        }
    }

    /// Opens the pull request of a draft, or finds the one of an earlier attempt.
    async fn open_pull_request(
        &self,
        options: &DraftOptions,
        remote: &Remote<'_>,
        draft: &Draft,
    ) -> Result<Progress, Failure> {
        if let Some(opened) = remote.pull_request_of(&draft.branch).await? {
            let commit = draft.progress.commit.clone().or(remote.branch(&draft.branch).await?);
            return Ok(opened_progress(draft, commit, opened));
        }
        let commit = match remote.branch(&draft.branch).await? {
            Some(commit) => ours(remote, draft, commit).await?,
            None => {
                failpoint::reached(Step::DraftSought);
                self.create_branch(options, remote, draft).await?
            }
        };
        let (title, body) = (format!("Draft: {}", neutral(&draft.title)), description(draft));
        let new = NewPullRequest { title: &title, body: &body, head: &draft.branch, base: &options.base };
        let opened = match remote.open_pull_request(&new).await? {
            Created::New(opened) => opened,
            Created::Unclear(error) => remote.pull_request_of(&draft.branch).await?.ok_or(error)?,
        };
        failpoint::reached(Step::DraftOpened);
        Ok(opened_progress(draft, Some(commit), opened))
    }

    /// Creates the branch of a draft, with one commit.
    async fn create_branch(
        &self,
        options: &DraftOptions,
        remote: &Remote<'_>,
        draft: &Draft,
    ) -> Result<String, Failure> {
        let base = match &draft.progress.base {
            Some(base) => base.clone(),
            None => {
                let head = remote.branch(&options.base).await?.ok_or_else(|| no_base(options))?;
                failpoint::reached(Step::DraftBase);
                self.choose_base(draft, &head).await?;
                failpoint::reached(Step::DraftBased);
                head
            }
        };
        let path = path(draft)?;
        if remote.has_path(&base, &path).await? {
            return Err(file_exists(draft));
        }
        let tree = remote.commit(&base).await?.tree;
        let tree = remote.create_tree(&tree, &path, &draft.body).await?;
        failpoint::reached(Step::DraftTree);
        let (message, date) = (message(draft), date(draft));
        let (name, email) = AUTHOR;
        let new = NewCommit { message: &message, tree: &tree, parent: &base, name, email, date: &date };
        let commit = remote.create_commit(&new).await?;
        failpoint::reached(Step::DraftCommit);
        if let Created::Unclear(error) = remote.create_branch(&draft.branch, &commit).await? {
            let found = remote.branch(&draft.branch).await?.ok_or(error)?;
            if found != commit {
                return ours(remote, draft, found).await;
            }
        }
        failpoint::reached(Step::DraftBranch);
        Ok(commit)
    }

    /// Remembers the base of a draft, so that a retry makes the same commit.
    async fn choose_base(&self, draft: &Draft, base: &str) -> Result<(), Failure> {
        let (source, id) = (draft.source.clone(), draft.id.clone());
        let progress = Progress { base: Some(base.to_owned()), ..draft.progress.clone() };
        let set = move |tx: &Tx<'_>| drafts::set_progress(tx, &source, &id, &progress);
        Ok(self.db.write(self.options.about(), set).await?)
    }

    /// Pushes the branch of a draft.
    async fn push_branch(&self, repository: &Repository, draft: &Draft) -> Result<Progress, Failure> {
        let base = match &draft.progress.base {
            Some(base) => base.clone(),
            None => {
                let head = self.snapshot().version.clone().filter(|version| !is_uncommitted(version));
                let head = head.ok_or_else(|| Failure::later("the source is not synced yet"))?;
                self.choose_base(draft, &head).await?;
                head
            }
        };
        let path = path(draft)?;
        let new = FileCommit {
            branch: draft.branch.clone(),
            base: base.clone(),
            path: path.clone(),
            text: draft.body.clone(),
            message: message(draft),
            author: AUTHOR,
            seconds: draft.created.as_second(),
        };
        match repository.push_file(new).await? {
            Pushed::Commit(commit) => {
                let url = self.options.links.to(&commit, &path);
                let (state, changed, error) = (State::Pushed, Self::now(), None);
                let (base, commit) = (Some(base), Some(commit));
                Ok(Progress { state, changed, base, commit, url, error, ..draft.progress.clone() })
            }
            Pushed::FileExists => Err(file_exists(draft)),
            Pushed::BaseGone => {
                let (source, id) = (draft.source.clone(), draft.id.clone());
                let progress = Progress { base: None, ..draft.progress.clone() };
                let forget = move |tx: &Tx<'_>| drafts::set_progress(tx, &source, &id, &progress);
                self.db.write(self.options.about(), forget).await?;
                Err(Failure::later("the commit that the draft is based on is gone from the clone"))
            }
        }
    }
}

/// The token to publish with.
pub(super) async fn token(identity: &Identity) -> Result<lyceum_net::Secret, github::Error> {
    identity.token().await
}

/// The commit at the branch of a draft, if it is of the draft: the database may have been lost since.
async fn ours(remote: &Remote<'_>, draft: &Draft, commit: String) -> Result<String, Failure> {
    let trailer = format!("{TRAILER}: {}", draft.id);
    let found = remote.commit(&commit).await?;
    if found.message.lines().any(|line| line == trailer) {
        return Ok(commit);
    }
    let why = format!("the branch {:?} exists and is not of this draft; delete it, then retry", draft.branch);
    Err(Failure { why, retry: Retry::Never })
}

fn opened_progress(draft: &Draft, commit: Option<String>, opened: PullRequest) -> Progress {
    let state = match opened.state {
        PullRequestState::Open => State::Open,
        PullRequestState::Merged => State::Merged,
        PullRequestState::Closed => State::Closed,
    };
    Progress {
        state,
        changed: Knowledge::now(),
        base: draft.progress.base.clone(),
        commit,
        number: Some(opened.number),
        url: Some(opened.url),
        ended_by: opened.ended_by,
        error: None,
    }
}

/// The commit message.
fn message(draft: &Draft) -> String {
    format!(
        "Add {}: {}\n\nWritten by a model and approved by {}.\n\n{TRAILER}: {}\n",
        draft.content_type,
        neutral(&draft.title),
        neutral(approver(draft)),
        draft.id
    )
}

/// The description of a pull request. Everything from outside is in code spans, or without mentions.
fn description(draft: &Draft) -> String {
    let published = match draft.body.contains("\ndraft: true\n") {
        true => {
            "It is not served after the merge until `draft` is false and `publish` is true in its frontmatter."
        }
        false => "It is served after the merge.",
    };
    format!(
        "{title}\n\nThis {kind} was **written by a model**. `{by}` approved its text; check facts and links before you \
         merge. {published}\n\n- File: `{path}`\n- SHA-256 of the approved text: `{hash}`\n- Draft: `{id}`\n",
        title = neutral(&draft.title).replace('`', "'"),
        kind = draft.content_type,
        by = approver(draft).replace('`', "'"),
        path = draft.path,
        hash = sha256(&draft.body),
        id = draft.id,
    )
}

fn approver(draft: &Draft) -> &str {
    draft.subject.as_deref().unwrap_or("the user of the server")
}

/// The date of a commit, in whole seconds.
fn date(draft: &Draft) -> String {
    Timestamp::from_second(draft.created.as_second()).unwrap_or(draft.created).to_string()
}

fn path(draft: &Draft) -> Result<RelPath, Failure> {
    RelPath::parse(&draft.path).map_err(|error| Failure { why: error.to_string(), retry: Retry::Never })
}

fn file_exists(draft: &Draft) -> Failure {
    let why = format!("the repository has a file {:?} already; choose another title", draft.path);
    Failure { why, retry: Retry::Never }
}

fn no_base(options: &DraftOptions) -> Failure {
    let (branch, repository) = (&options.base, options.repository());
    let why = format!(
        "there is no branch {branch:?} in {repository}, or the server's token may not read it; the operator has to \
         check [knowledge.drafts]"
    );
    Failure { why, retry: Retry::Never }
}

impl Failure {
    fn later(why: &str) -> Self {
        Self { why: why.to_owned(), retry: Retry::Later }
    }

    fn retry_at(&self, attempts: i64, now: Timestamp) -> Option<Timestamp> {
        let retry_at = RETRIES.next(attempts, now)?;
        match self.retry {
            Retry::Never => None,
            Retry::Later => Some(retry_at),
            Retry::After(wait) => Some(now.checked_add(wait).unwrap_or(retry_at)),
        }
    }
}

impl From<github::Error> for Failure {
    fn from(error: github::Error) -> Self {
        use github::Error;
        let retry = match &error {
            Error::RateLimited { retry_after, .. } => Retry::After(*retry_after),
            Error::Status { status: 409 | 500.., .. }
            | Error::Unreachable { .. }
            | Error::TimedOut
            | Error::Invalid(_) => Retry::Later,
            Error::Unauthorized { .. }
            | Error::Forbidden { .. }
            | Error::NotFound
            | Error::Status { .. }
            | Error::Redirected { .. }
            | Error::TooLarge { .. } => Retry::Never,
        };
        Self { why: error.to_string(), retry }
    }
}

impl From<lyceum_source::Error> for Failure {
    fn from(error: lyceum_source::Error) -> Self {
        Self { why: format!("the branch can't be pushed: {error}"), retry: Retry::Later }
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        Self { why: error.to_string(), retry: Retry::Later }
    }
}
