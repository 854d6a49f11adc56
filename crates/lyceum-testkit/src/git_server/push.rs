//! A push over HTTP, and its webhook payload.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use bytes::Bytes;
use hyper::{Method, Response, http::request::Parts};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{State, backend};

/// The commit id of a branch that does not exist.
const ZERO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Maximum number of commits in a payload.
const MAX_COUNT_ARGUMENT: &str = "--max-count=2048";

/// The repository that a request pushes to, if it is a push.
pub(super) fn repository(head: &Parts) -> Option<&str> {
    let path = head.uri.path().strip_suffix("/git-receive-pack").filter(|_| head.method == Method::POST)?;
    path.strip_prefix('/')
}

/// Handles a push, and starts a webhook delivery for each branch that moved.
pub(super) async fn respond(
    state: &Arc<State>,
    name: &str,
    head: &Parts,
    body: &[u8],
) -> io::Result<Response<Bytes>> {
    let _turn = state.pushing.lock().await;
    let repository = Repository { folder: state.root.join(name) };
    let before = repository.branches().await?;
    let response = backend::respond(&state.root, head, body).await?;
    let after = repository.branches().await?;
    for reference in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
        let (old, new) = (before.get(reference), after.get(reference));
        if old != new {
            let payload = repository.payload(&state.origin, name, reference, old, new).await?;
            state.deliveries.deliver("push", payload.to_string().into());
        }
    }
    Ok(response)
}

struct Repository {
    folder: PathBuf,
}

impl Repository {
    /// Branches and tags, with their commits.
    async fn branches(&self) -> io::Result<BTreeMap<String, String>> {
        let (_, listed) = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]).await?;
        let pairs = listed.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs.map(|(name, id)| (name.to_owned(), id.to_owned())).collect())
    }

    /// The webhook payload for a branch that moved.
    async fn payload(
        &self,
        origin: &str,
        name: &str,
        reference: &str,
        old: Option<&String>,
        new: Option<&String>,
    ) -> io::Result<Value> {
        let range = match (old, new) {
            (Some(old), Some(new)) => Some(format!("{old}..{new}")),
            (None, Some(new)) => Some(new.clone()),
            (_, None) => None,
        };
        let mut commits = Vec::new();
        if let Some(range) = range {
            let (_, listed) =
                self.git(&["log", MAX_COUNT_ARGUMENT, "--reverse", "--format=%H %s", &range]).await?;
            let listed = listed.lines().filter_map(|line| line.split_once(' '));
            commits.extend(
                listed.map(|(id, message)| json!({ "id": id, "message": message, "distinct": true })),
            );
        }
        let forced = match (old, new) {
            (Some(old), Some(new)) => !self.git(&["merge-base", "--is-ancestor", old, new]).await?.0,
            _ => false,
        };
        let full_name = name.strip_suffix(".git").unwrap_or(name);
        let host = origin.trim_start_matches("http://").split(':').next().unwrap_or_default();
        Ok(json!({
            "ref": reference,
            "before": old.map_or(ZERO_COMMIT, String::as_str),
            "after": new.map_or(ZERO_COMMIT, String::as_str),
            "created": old.is_none(),
            "deleted": new.is_none(),
            "forced": forced,
            "base_ref": null,
            "compare": format!("{origin}/{full_name}/compare"),
            "head_commit": new.and(commits.last()),
            "commits": commits,
            "repository": {
                "full_name": full_name,
                "clone_url": format!("{origin}/{name}"),
                "ssh_url": format!("git@{host}:{name}"),
            },
            "pusher": { "name": "test" },
        }))
    }

    /// Runs git; returns whether it succeeded, and its output.
    async fn git(&self, arguments: &[&str]) -> io::Result<(bool, String)> {
        let output = command(&self.folder, arguments).output().await?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .env("GIT_DIR", folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}
