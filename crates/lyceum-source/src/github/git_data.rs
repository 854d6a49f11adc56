//! The Git Data API: branches, trees and commits of a repository, without a clone.
//!
//! Objects are named by their content, so that creating one twice is harmless. Creating a branch is not, hence
//! [`Created::Unclear`].

use lyceum_model::RelPath;
use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Error, GitHub, RepoName, Request};
use crate::encode_path;

/// A repository at GitHub as one caller reaches it, until a deadline.
#[derive(Debug, Clone, Copy)]
pub struct Remote<'a> {
    /// The client.
    pub github: &'a GitHub,
    /// The token.
    pub token: &'a Secret,
    /// The repository.
    pub repo: &'a RepoName,
    /// When to give up.
    pub deadline: Instant,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Id of its tree.
    pub tree: String,
    /// The message.
    pub message: String,
}

/// A commit to be created. Author and committer are the same, and so is the date, so that its id depends on nothing
/// else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommit<'a> {
    /// The message.
    pub message: &'a str,
    /// Id of its tree.
    pub tree: &'a str,
    /// Id of its parent.
    pub parent: &'a str,
    /// Name of the author.
    pub name: &'a str,
    /// E-mail address of the author.
    pub email: &'a str,
    /// The date, RFC 3339, in whole seconds.
    pub date: &'a str,
}

/// Whether something was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created<T> {
    /// It was.
    New(T),
    /// It exists already, or the answer was lost: look for it. If it is not there, this is why.
    Unclear(Error),
}

#[derive(Deserialize)]
struct Object {
    sha: String,
}

#[derive(Deserialize)]
struct Reference {
    object: Object,
}

#[derive(Deserialize)]
struct CommitBody {
    tree: Object,
    message: String,
}

impl Remote<'_> {
    /// The commit of a branch; `None` if there is no such branch, or the token may not read the repository.
    pub async fn branch(&self, branch: &str) -> Result<Option<String>, Error> {
        let path = self.path(&format!("git/ref/heads/{}", encode_path(branch)));
        match self.send(&Request::get(path)).await {
            Ok(found) => Ok(Some(found.json::<Reference>()?.object.sha)),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A commit.
    pub async fn commit(&self, id: &str) -> Result<Commit, Error> {
        let path = self.path(&format!("git/commits/{}", encode_path(id)));
        let CommitBody { tree, message } = self.send(&Request::get(path)).await?.json()?;
        Ok(Commit { tree: tree.sha, message })
    }

    /// Whether a commit has a file or folder of that name.
    pub async fn has_path(&self, commit: &str, path: &RelPath) -> Result<bool, Error> {
        let request = Request::get(self.path(&format!("contents/{}", encode_path(path.as_str()))));
        match self.send(&request.query("ref", commit)).await {
            // A file that is too large to show is there.
            Ok(_) | Err(Error::TooLarge { .. } | Error::Forbidden { is_too_large: true, .. }) => Ok(true),
            Err(Error::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates a tree: another one with a file added. Returns its id.
    pub async fn create_tree(&self, base: &str, path: &RelPath, text: &str) -> Result<String, Error> {
        let file = json!({ "path": path.as_str(), "mode": "100644", "type": "blob", "content": text });
        self.create("git/trees", json!({ "base_tree": base, "tree": [file] })).await
    }

    /// Creates a commit. Returns its id, which is the same for the same arguments.
    pub async fn create_commit(&self, commit: &NewCommit<'_>) -> Result<String, Error> {
        let NewCommit { message, tree, parent, name, email, date } = commit;
        let person = json!({ "name": name, "email": email, "date": date });
        let body = json!({
            "message": message, "tree": tree, "parents": [parent], "author": person, "committer": person,
        });
        self.create("git/commits", body).await
    }

    /// Creates a branch at a commit.
    pub async fn create_branch(&self, branch: &str, commit: &str) -> Result<Created<()>, Error> {
        let body = json!({ "ref": format!("refs/heads/{branch}"), "sha": commit });
        match self.send(&Request::post(self.path("git/refs"), body)).await {
            Ok(_) => Ok(Created::New(())),
            Err(error) if error.is_unclear() => Ok(Created::Unclear(error)),
            Err(error) => Err(error),
        }
    }

    async fn create(&self, what: &str, body: Value) -> Result<String, Error> {
        Ok(self.send(&Request::post(self.path(what), body)).await?.json::<Object>()?.sha)
    }

    /// The path of something in the repository.
    pub(super) fn path(&self, below: &str) -> String {
        format!("repos/{}/{below}", self.repo)
    }

    pub(super) async fn send(&self, request: &Request) -> Result<super::Response, Error> {
        self.github.send(Some(self.token), request, self.deadline).await
    }
}

impl Error {
    /// Whether what was to be created may exist all the same: GitHub says that it does, or it may have got the request.
    pub(super) fn is_unclear(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 409 | 422 | 500..),
            Self::Unreachable { was_sent, .. } => *was_sent,
            Self::Unauthorized { .. }
            | Self::Forbidden { .. }
            | Self::NotFound
            | Self::RateLimited { .. }
            | Self::Redirected { .. }
            | Self::TooLarge { .. }
            | Self::TimedOut
            | Self::Invalid(_) => false,
        }
    }
}
