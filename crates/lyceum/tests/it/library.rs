//! The library end to end: the real server, clones from a Git server, and contents from a fake GitHub, read with the
//! tokens of the callers. Tests are named after the requirements.

mod auth;
mod build;
mod config;
mod docs;
mod errors;
mod search;
mod security;
mod skills;
mod together;

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use http::header;
use lyceum_testkit::{Checkout, GitServer, TestGitHub};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::{Request, Response, TestApp, call, get, within};

/// May read both repositories.
const ALICE: &str = "ghp_alice_canary_7f3a";
/// May read no repository, but has a valid token.
const BOB: &str = "github_pat_bob_canary_9c1d";

const PDF: &str = "---\nname: pdf\ndescription: Fill in forms\nargument-hint: \"[file]\"\nuser-invocable: false\n---\n# PDF\n\nBe careful: é.\n";
const REVIEWER: &str =
    "---\nname: reviewer\ndescription: Reviews changes\nmodel: opus\ntools: Read, Grep\n---\nReview it.\n";

/// A Git server and a GitHub with the same two repositories.
struct Stage {
    git: GitServer,
    skills: Checkout,
    docs: Checkout,
    github: TestGitHub,
    folder: TempDir,
}

impl Stage {
    async fn new() -> Self {
        let git = GitServer::start().await.unwrap();
        let (skills, docs) =
            (git.checkout("acme/skills.git").unwrap(), git.checkout("acme/site.git").unwrap());
        let github = TestGitHub::start().await.unwrap();
        github.add_person(1, "alice", &[ALICE], &[]);
        github.add_person(2, "bob", &[BOB], &[]);
        github.add_private_repository("acme/skills", &[ALICE]);
        github.add_private_repository("acme/site", &[ALICE]);
        let stage = Self { git, skills, docs, github, folder: tempfile::tempdir().unwrap() };
        for (path, text) in [
            ("skills/pdf/SKILL.md", PDF),
            ("skills/pdf/scripts/fill.py", "print('filled')\n"),
            ("skills/pdf/reference.md", "# Reference\n"),
            ("skills/bare/SKILL.md", "# No frontmatter\n"),
            ("agents/reviewer.md", REVIEWER),
            ("agents/plain.md", "Just instructions.\n"),
        ] {
            stage.write_skill(path, text);
        }
        for (path, text) in [
            ("index.md", "---\ntitle: Home\n---\n# Home\n"),
            ("guides/index.md", "---\ndescription: All guides\n---\n# Guides\n"),
            ("guides/setup.md", "---\ndescription: How to set up\n---\n# Setup\n"),
            ("guides/tour.mdx", "---\ndescription: A tour\n---\n# Tour\n"),
        ] {
            stage.docs.write(format!("src/content/docs/{path}"), text).unwrap();
            stage.github.write_to("acme/site", "site", &format!("src/content/docs/{path}"), text).unwrap();
        }
        stage.skills.publish().await.unwrap();
        stage.docs.commit().unwrap();
        stage.docs.push_as("HEAD:refs/heads/site").await.unwrap();
        stage
    }

    /// Writes a file to the work tree of the skills, and to GitHub.
    fn write_skill(&self, path: &str, text: &str) {
        self.skills.write(path, text).unwrap();
        self.github.write("acme/skills", path, text).unwrap();
    }

    /// The sources, and GitHub for the tokens of callers.
    fn sources(&self) -> String {
        let (skills, docs) = (self.git.url("acme/skills.git"), self.git.url("acme/site.git"));
        format!(
            "[[source]]\nname = \"skills\"\nurl = {skills:?}\n[[source]]\nname = \"site\"\nurl = {docs:?}\nbranch = \"site\"\n\
             [auth]\nmode = \"github-pat\"\n[auth.github]\nweb = {:?}\napi = {:?}\n",
            self.git.origin(),
            self.github.url(),
        )
    }

    /// The whole configuration.
    fn tables(&self) -> String {
        format!(
            "{}[library]\nskills = {{ source = \"skills\", path = \"skills\" }}\n\
             agents = {{ source = \"skills\", path = \"agents\" }}\ndocs = {{ source = \"site\", path = \"src/content/docs\" }}\n",
            self.sources()
        )
    }

    /// Starts the server, and waits for the indexes.
    async fn start(&self) -> TestApp {
        self.start_with(&self.tables()).await
    }

    async fn start_with(&self, tables: &str) -> TestApp {
        let app = TestApp::product_at(self.folder.path(), tables).await;
        within("the library is indexed", async {
            while app.send(get("/readyz")).await.status != 200 {
                // Polling without a pause would take the processor from git.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        app
    }

    /// The commit of a repository that is served, and its link to a file.
    fn link(&self, name: &str, path: &str) -> (String, String) {
        let checkout = if name == "skills" { &self.skills } else { &self.docs };
        let commit = checkout.git(["rev-parse", "HEAD"]).unwrap();
        let url = format!("{}/acme/{name}/blob/{commit}/{path}", self.git.origin());
        (commit, url)
    }

    /// Number of requests for contents so far.
    fn reads(&self) -> usize {
        self.github.contents_requests().len()
    }
}

fn bearer(token: &str) -> String {
    format!("Bearer {}", URL_SAFE_NO_PAD.encode(token))
}

/// The request with a GitHub token.
fn with_token(mut request: Request, token: &str) -> Request {
    request.headers_mut().insert(header::AUTHORIZATION, bearer(token).parse().unwrap());
    request
}

/// Calls a tool with a token.
async fn ask(app: &TestApp, token: &str, tool: &str, arguments: Value) -> Response {
    app.send(with_token(call(tool, &arguments), token)).await
}

/// The structured result of a call that succeeds.
async fn answer(app: &TestApp, tool: &str, arguments: Value) -> Value {
    let result = ask(app, ALICE, tool, arguments).await.result();
    assert_ne!(result["isError"], json!(true), "{result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"], "the text is the same JSON");
    text
}

/// The error of a call that fails.
async fn failure(app: &TestApp, token: &str, tool: &str, arguments: Value) -> Value {
    let result = ask(app, token, tool, arguments).await.result();
    assert_eq!(result["isError"], json!(true), "{result}");
    assert_eq!(result.get("structuredContent"), None, "it would not match the schema of the output");
    let body: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(result["_meta"]["lyceum/error_code"], body["error"]["code"]);
    body["error"].clone()
}
