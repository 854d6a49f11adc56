//! Drafts: documents that a model wrote and a person approved, published as pull requests (ADR 24).
//!
//! Invariants: nothing is sent before the approval is in the audit log and the draft in the database. A draft has one
//! id, made from who asked for what, and all that it leaves behind is named after it; so every step can be repeated.

mod approval;
mod link_url;
mod proposal;
mod publishing;
mod status;
mod text;

use std::time::Duration;

use lyceum_content::ontology::Ontology;
use lyceum_model::{ErrorCode, RelPath, Scope};
use lyceum_source::{
    Repository,
    github::{GitHub, Identity, RepoName},
};
use lyceum_store::{
    drafts::{self, Draft, Progress, State},
    jobs,
};
use lyceum_tools::{Call, Error};
use tokio::time::Instant;

pub(crate) use approval::{Approval, approval};
pub(crate) use link_url::LinkUrl;
pub(crate) use proposal::{NewDocument, Proposal};
pub use status::{DraftList, DraftSummary};

use crate::{
    Knowledge,
    failpoint::{self, Step},
    service::db_error,
};

/// Scope for `create_draft`.
pub const DRAFTS_WRITE: Scope = Scope::from_static("drafts:write");

/// Scope for `save_link`.
pub const LINKS_WRITE: Scope = Scope::from_static("links:write");

/// How long a call waits for its draft to be published.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(25);

/// How often a call looks for the progress of its draft, which another process may make.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The type of link documents.
pub(crate) const LINK: &str = "link";

/// Settings of drafts.
#[derive(Debug)]
pub struct DraftOptions {
    /// Where they go.
    pub destination: Destination,
    /// The branch that they are to be merged into.
    pub base: String,
    /// The folder for documents of types without a folder.
    pub folder: RelPath,
}

/// Where drafts go.
#[derive(Debug)]
pub enum Destination {
    /// Pull requests at GitHub.
    GitHub {
        /// The client.
        github: GitHub,
        /// Whom the server acts as.
        identity: Identity,
        /// The repository.
        repo: RepoName,
    },
    /// Branches of a Git repository.
    Git(Repository),
}

impl DraftOptions {
    /// The name of the repository, for people.
    pub(crate) fn repository(&self) -> &str {
        match &self.destination {
            Destination::GitHub { repo, .. } => repo.as_str(),
            Destination::Git(repository) => repository.url(),
        }
    }

    /// What a draft becomes, for people.
    pub(crate) fn outcome(&self) -> &'static str {
        match self.destination {
            Destination::GitHub { .. } => "a draft pull request",
            Destination::Git(_) => "a branch",
        }
    }
}

/// Whether the ontology has a type for links.
pub(crate) fn takes_links(ontology: &Ontology) -> bool {
    ontology.get(LINK).is_some_and(|link| !link.parent_only)
}

impl Knowledge {
    /// The settings of drafts. Their tools are offered only if there are any.
    pub(crate) fn draft_options(&self) -> Result<&DraftOptions, Error> {
        let message = || "drafts are not enabled; add [knowledge.drafts] to lyceum.toml".to_owned();
        let none = || Error::Failed { code: ErrorCode::NotFound, message: message() };
        self.options.drafts.as_ref().ok_or_else(none)
    }

    /// Finds a draft.
    pub(crate) async fn draft(&self, id: &str) -> Result<Option<Draft>, Error> {
        let (source, id) = (self.options.key(), id.to_owned());
        self.db.read(move |tx| drafts::find(tx, &source, &id)).await.map_err(db_error)
    }

    /// Refuses a file that exists, or that another draft creates.
    pub(crate) async fn require_free_path(&self, proposal: &Proposal) -> Result<(), Error> {
        let path = proposal.path.as_str().to_owned();
        let lower = path.to_lowercase();
        let is_known = self.files().await?.iter().any(|file| file.path.to_lowercase() == lower);
        let (source, id, sought) = (self.options.key(), proposal.id.clone(), path.clone());
        let is_taken = self.db.read(move |tx| drafts::is_path_taken(tx, &source, &sought, &id)).await;
        if is_known || is_taken.map_err(db_error)? {
            let of = if is_known { "a document" } else { "another draft" };
            let message = format!("{of} has the file {path:?} already; choose another title");
            return Err(Error::Failed { code: ErrorCode::ValidationError, message });
        }
        Ok(())
    }

    /// Queues an approved draft, and waits until it is published or an attempt fails.
    pub(crate) async fn submit(&self, call: &Call, proposal: Proposal) -> Result<Draft, Error> {
        failpoint::reached(Step::DraftApproved);
        let action = format!("draft {} {}", self.options.name, proposal.id);
        call.record_approval(&action, proposal.path.as_str()).await?;
        failpoint::reached(Step::DraftAudited);
        let now = Self::now();
        let draft = Draft {
            source: self.options.key(),
            branch: format!("lyceum/{}", proposal.id),
            id: proposal.id,
            tool: proposal.tool.to_owned(),
            subject: call.caller().subject().map(str::to_owned),
            content_type: proposal.content_type,
            title: proposal.title,
            path: proposal.path.to_string(),
            body: proposal.text,
            created: now,
            progress: Progress::queued(now),
        };
        self.publish_draft(draft).await
    }

    /// Publishes a draft that is in the database or not, unless that is done; waits for it.
    pub(crate) async fn publish_draft(&self, draft: Draft) -> Result<Draft, Error> {
        let id = draft.id.clone();
        let queue = self.options.draft_queue();
        let queued = self.db.write(self.options.about(), move |tx| {
            drafts::add(tx, &draft)?;
            let stored = drafts::find(tx, &draft.source, &draft.id)?.unwrap_or_else(|| draft.clone());
            if !matches!(stored.progress.state, State::Queued | State::Failed) {
                return Ok(());
            }
            let now = tx.now()?;
            let (state, changed, error) = (State::Queued, now, None);
            let progress = Progress { state, changed, error, ..stored.progress };
            drafts::set_progress(tx, &draft.source, &draft.id, &progress)?;
            jobs::enqueue(tx, &queue, [(draft.id.as_str(), "")], now)
        });
        queued.await.map_err(db_error)?;
        failpoint::reached(Step::DraftQueued);
        let mut progress = self.draft_progress.subscribe();
        self.draft_queued.notify_one();
        let deadline = Instant::now() + PUBLISH_TIMEOUT;
        loop {
            let lost = || Error::internal("a draft is gone from the database");
            let draft = self.draft(&id).await?.ok_or_else(lost)?;
            let is_settled = draft.progress.state != State::Queued || draft.progress.error.is_some();
            if is_settled || Instant::now() >= deadline {
                return Ok(draft);
            }
            let wait = tokio::time::timeout(POLL_INTERVAL, progress.changed());
            let _changed_or_polled = wait.await.is_ok();
        }
    }
}
