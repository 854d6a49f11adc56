//! The Git Data API and the pull requests of the fake GitHub, over a real bare repository: its objects and their ids are
//! Git's own.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::NamedTempFile;

/// A repository whose objects can be written.
pub(super) struct GitData {
    /// The bare repository.
    pub(super) folder: PathBuf,
    pub(super) name: String,
    pub(super) pulls: Vec<TestPullRequest>,
    /// Whether drafts are refused, as in private repositories of some plans.
    pub(super) has_no_drafts: bool,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPullRequest {
    /// Its number, from 1.
    pub number: usize,
    /// The title.
    pub title: String,
    /// The description.
    pub body: String,
    /// The branch to be merged.
    pub head: String,
    /// The branch to merge into.
    pub base: String,
    /// Whether it is a draft.
    pub is_draft: bool,
    /// Who ended it, and whether by a merge.
    pub ended: Option<(String, bool)>,
}

/// Status and body.
type Answer = (u16, Value);

impl GitData {
    /// Answers a request for what is below `/repos/{owner}/{name}/`; `None` if it is about something else.
    pub(super) fn respond(&mut self, method: &str, below: &str, query: &str, body: &[u8]) -> Option<Answer> {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let parts: Vec<&str> = below.split('/').collect();
        Some(match (method, parts.as_slice()) {
            ("GET", ["git", "ref", "heads", branch @ ..]) => self.reference(&branch.join("/")),
            ("GET", ["git", "commits", id]) => self.commit(id),
            ("GET", ["contents", path @ ..]) => self.contents(&path.join("/"), query),
            ("POST", ["git", "trees"]) => self.create_tree(&body).unwrap_or_else(|error| invalid(&error)),
            ("POST", ["git", "commits"]) => self.create_commit(&body).unwrap_or_else(|error| invalid(&error)),
            ("POST", ["git", "refs"]) => self.create_reference(&body),
            ("GET", ["pulls"]) => self.pulls_of(query),
            ("POST", ["pulls"]) => self.create_pull(&body),
            ("GET", ["pulls" | "issues", number]) => {
                let pull = self.pulls.iter().find(|pull| pull.number.to_string() == *number);
                pull.map_or_else(not_found, |pull| (200, self.shown(pull)))
            }
            _ => return None,
        })
    }

    fn reference(&self, branch: &str) -> Answer {
        match self.git(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")], &[], b"") {
            Ok(sha) => (
                200,
                json!({ "ref": format!("refs/heads/{branch}"), "object": { "type": "commit", "sha": sha } }),
            ),
            Err(_) => not_found(),
        }
    }

    fn commit(&self, id: &str) -> Answer {
        let tree = self.git(&["rev-parse", "--verify", "--quiet", &format!("{id}^{{tree}}")], &[], b"");
        let message = self.git(&["log", "-1", "--format=%B", id, "--"], &[], b"");
        match (tree, message) {
            (Ok(tree), Ok(message)) => {
                (200, json!({ "sha": id, "tree": { "sha": tree }, "message": message }))
            }
            _ => not_found(),
        }
    }

    fn contents(&self, path: &str, query: &str) -> Answer {
        let commit = query.strip_prefix("ref=").unwrap_or("main");
        match self.git(&["rev-parse", "--verify", "--quiet", &format!("{commit}:{path}")], &[], b"") {
            Ok(sha) => (200, json!({ "type": "file", "path": path, "sha": sha })),
            Err(_) => not_found(),
        }
    }

    fn create_tree(&self, body: &Value) -> io::Result<Answer> {
        let index = NamedTempFile::new()?;
        // Git wants to create the file itself.
        std::fs::remove_file(index.path())?;
        let index = [("GIT_INDEX_FILE", index.path().display().to_string())];
        self.git(&["read-tree", text(body, "/base_tree")], &index, b"")?;
        for entry in body["tree"].as_array().into_iter().flatten() {
            let blob =
                self.git(&["hash-object", "-w", "--stdin"], &[], text(entry, "/content").as_bytes())?;
            let line = format!("{},{blob},{}", text(entry, "/mode"), text(entry, "/path"));
            self.git(&["update-index", "--add", "--cacheinfo", &line], &index, b"")?;
        }
        Ok((201, json!({ "sha": self.git(&["write-tree"], &index, b"")? })))
    }

    fn create_commit(&self, body: &Value) -> io::Result<Answer> {
        let names = [
            ("GIT_AUTHOR_NAME", "/author/name"),
            ("GIT_AUTHOR_EMAIL", "/author/email"),
            ("GIT_AUTHOR_DATE", "/author/date"),
            ("GIT_COMMITTER_NAME", "/committer/name"),
            ("GIT_COMMITTER_EMAIL", "/committer/email"),
            ("GIT_COMMITTER_DATE", "/committer/date"),
        ];
        let variables = names.map(|(name, pointer)| (name, text(body, pointer).to_owned()));
        let arguments = ["commit-tree", text(body, "/tree"), "-p", text(body, "/parents/0"), "-F", "-"];
        let sha = self.git(&arguments, &variables, text(body, "/message").as_bytes())?;
        Ok((
            201,
            json!({ "sha": sha, "tree": { "sha": text(body, "/tree") }, "message": text(body, "/message") }),
        ))
    }

    fn create_reference(&self, body: &Value) -> Answer {
        let (name, sha) = (text(body, "/ref"), text(body, "/sha"));
        // An old value of zeros: only if it does not exist.
        match self.git(&["update-ref", name, sha, &"0".repeat(40)], &[], b"") {
            Ok(_) => (201, json!({ "ref": name, "object": { "type": "commit", "sha": sha } })),
            Err(_) => (422, json!({ "message": "Reference already exists" })),
        }
    }

    fn pulls_of(&self, query: &str) -> Answer {
        let head = query.split('&').find_map(|pair| pair.strip_prefix("head=")).unwrap_or_default();
        let head = super::contents::decode(head);
        let branch = head.split_once(':').map_or(head.as_str(), |(_, branch)| branch);
        let found = self.pulls.iter().filter(|pull| pull.head == branch);
        (200, found.map(|pull| self.shown(pull)).collect())
    }

    fn create_pull(&mut self, body: &Value) -> Answer {
        let own = |pointer: &str| text(body, pointer).to_owned();
        let is_draft = body["draft"] == true;
        let refusal = |message: String| {
            let errors = json!([{ "resource": "PullRequest", "code": "custom", "message": message }]);
            (422, json!({ "message": "Validation Failed", "errors": errors }))
        };
        if is_draft && self.has_no_drafts {
            return refusal("Draft pull requests are not supported in this repository.".to_owned());
        }
        let head = own("/head");
        if self.pulls.iter().any(|pull| pull.head == head && pull.ended.is_none()) {
            return refusal(format!("A pull request already exists for acme:{head}."));
        }
        if self.reference(&head).0 != 200 {
            return refusal("head is invalid".to_owned());
        }
        let (number, base) = (self.pulls.len() + 1, own("/base"));
        let (title, body) = (own("/title"), own("/body"));
        self.pulls.push(TestPullRequest { number, title, body, head, base, is_draft, ended: None });
        (201, self.pulls.last().map(|pull| self.shown(pull)).unwrap_or_default())
    }

    fn shown(&self, pull: &TestPullRequest) -> Value {
        let state = if pull.ended.is_some() { "closed" } else { "open" };
        let by = pull.ended.as_ref().map(|(login, _)| json!({ "login": login }));
        let is_merged = pull.ended.as_ref().is_some_and(|(_, is_merged)| *is_merged);
        json!({
            "number": pull.number, "state": state, "draft": pull.is_draft, "title": pull.title, "body": pull.body,
            "html_url": format!("https://github.example.org/{}/pull/{}", self.name, pull.number),
            "merged_at": is_merged.then_some("2026-11-18T12:00:00Z"),
            "merged_by": by.clone().filter(|_| is_merged), "closed_by": by,
        })
    }

    fn git(&self, arguments: &[&str], variables: &[(&str, String)], input: &[u8]) -> io::Result<String> {
        let mut child = Command::new("git")
            .arg("--git-dir")
            .arg(&self.folder)
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input)?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

fn text<'a>(body: &'a Value, pointer: &str) -> &'a str {
    body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn not_found() -> Answer {
    (404, json!({ "message": "Not Found" }))
}

fn invalid(error: &io::Error) -> Answer {
    (422, json!({ "message": error.to_string() }))
}
