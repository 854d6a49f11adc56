//! Branches, commits and pull requests, against a fake GitHub over a real repository.

use std::time::Duration;

use lyceum_model::RelPath;
use lyceum_net::Secret;
use lyceum_testkit::{Checkout, GitServer, ScriptedResponse, TestGitHub};
use reqwest::Url;
use tokio::time::Instant;

use super::{TOKEN, status};
use crate::github::{Created, Error, GitHub, NewCommit, NewPullRequest, PullRequestState, Remote, RepoName};

const BRANCH: &str = "lyceum/0123";

struct Bench {
    git: GitServer,
    kb: Checkout,
    server: TestGitHub,
    github: GitHub,
    token: Secret,
    repo: RepoName,
    base: String,
}

impl Bench {
    async fn start() -> Self {
        let git = GitServer::start().await.unwrap();
        let kb = git.checkout("acme/kb.git").unwrap();
        kb.write("notes/a.md", "# A\n").unwrap();
        let base = kb.publish().await.unwrap();
        let server = TestGitHub::start().await.unwrap();
        server.add_person(1, "alice", &[TOKEN], &[]);
        server.add_writable_repository("acme/kb", &git.folder("acme/kb.git"));
        let github = GitHub::new(&Url::parse(&server.url()).unwrap()).unwrap();
        let (token, repo) = (Secret::for_header(TOKEN).unwrap(), RepoName::parse("acme/kb").unwrap());
        Self { git, kb, server, github, token, repo, base }
    }

    fn remote(&self) -> Remote<'_> {
        let deadline = Instant::now() + Duration::from_secs(20);
        Remote { github: &self.github, token: &self.token, repo: &self.repo, deadline }
    }

    async fn commit(&self) -> String {
        let remote = self.remote();
        let tree = remote.commit(&self.base).await.unwrap().tree;
        let path = RelPath::parse("notes/b c.md").unwrap();
        let tree = &remote.create_tree(&tree, &path, "# B\n\né\n").await.unwrap();
        let (name, email, date) = ("lyceum", "lyceum@example.org", "2026-11-18T12:00:00Z");
        let new = NewCommit { message: "Add B\n\nBecause.\n", tree, parent: &self.base, name, email, date };
        remote.create_commit(&new).await.unwrap()
    }

    async fn open(&self) -> Result<Created<crate::github::PullRequest>, Error> {
        let new = NewPullRequest { title: "Add B", body: "…", head: BRANCH, base: "main" };
        self.remote().open_pull_request(&new).await
    }
}

#[tokio::test]
async fn a_commit_that_is_made_twice_has_one_id_and_becomes_a_pull_request() {
    let bench = Bench::start().await;
    let remote = bench.remote();
    assert_eq!(remote.branch("main").await, Ok(Some(bench.base.clone())));
    assert_eq!(remote.branch(BRANCH).await, Ok(None));
    let commit = bench.commit().await;
    assert_eq!(bench.commit().await, commit);
    assert_eq!(remote.create_branch(BRANCH, &commit).await, Ok(Created::New(())));
    assert_eq!(remote.branch(BRANCH).await, Ok(Some(commit.clone())));
    assert!(remote.commit(&commit).await.unwrap().message.starts_with("Add B\n\nBecause."));
    let path = |text| RelPath::parse(text).unwrap();
    assert_eq!(remote.has_path(&bench.base, &path("notes/a.md")).await, Ok(true));
    assert_eq!(remote.has_path(&bench.base, &path("notes/b c.md")).await, Ok(false));

    assert_eq!(remote.pull_request_of(BRANCH).await, Ok(None));
    let Created::New(opened) = bench.open().await.unwrap() else { panic!() };
    assert_eq!((opened.number, opened.state), (1, PullRequestState::Open));
    assert_eq!(remote.pull_request_of(BRANCH).await, Ok(Some(opened)));
    assert!(bench.server.pull_requests("acme/kb")[0].is_draft);

    let folder = bench.git.folder("acme/kb.git").display().to_string();
    let shown = bench.kb.git(["--git-dir", &folder, "show", &format!("{commit}:notes/b c.md")]).unwrap();
    assert_eq!(shown.trim(), "# B\n\né");
}

#[tokio::test]
async fn what_exists_already_and_what_got_no_answer_has_to_be_looked_for() {
    let bench = Bench::start().await;
    let (remote, commit) = (bench.remote(), bench.commit().await);
    bench.server.fail_at("POST git/refs", ScriptedResponse::Lost);
    let unclear = remote.create_branch(BRANCH, &commit).await.unwrap();
    assert!(matches!(unclear, Created::Unclear(Error::Status { status: 502, .. })), "{unclear:?}");
    assert_eq!(remote.branch(BRANCH).await, Ok(Some(commit.clone())));
    let unclear = remote.create_branch(BRANCH, &commit).await.unwrap();
    assert!(matches!(unclear, Created::Unclear(Error::Status { status: 422, .. })), "{unclear:?}");

    bench.server.fail_at("POST pulls", ScriptedResponse::Lost);
    assert!(matches!(bench.open().await, Ok(Created::Unclear(_))));
    let Ok(Created::Unclear(error)) = bench.open().await else { panic!() };
    assert!(error.to_string().contains("A pull request already exists for acme:lyceum/0123"), "{error}");
    assert_eq!(remote.pull_request_of(BRANCH).await.unwrap().unwrap().number, 1);
    assert_eq!(bench.server.pull_requests("acme/kb").len(), 1);
}

#[tokio::test]
async fn a_refusal_or_a_rate_limit_is_not_unclear() {
    let bench = Bench::start().await;
    bench.server.fail_at("POST pulls", status(403, &[("x-ratelimit-remaining", "9")], "Not accessible"));
    assert!(matches!(bench.open().await, Err(Error::Forbidden { .. })));
    bench.server.fail_at("POST pulls", status(403, &[("retry-after", "90")], "secondary rate limit"));
    assert!(matches!(bench.open().await, Err(Error::RateLimited { .. })));
    assert!(matches!(bench.open().await, Err(Error::RateLimited { .. })), "it is remembered");
}

#[tokio::test]
async fn where_drafts_are_not_supported_the_pull_request_is_opened_for_review() {
    let bench = Bench::start().await;
    bench.server.refuse_drafts();
    let commit = bench.commit().await;
    bench.remote().create_branch(BRANCH, &commit).await.unwrap();
    assert!(matches!(bench.open().await, Ok(Created::New(_))));
    assert!(!bench.server.pull_requests("acme/kb")[0].is_draft);
}

#[tokio::test]
async fn a_pull_request_says_how_and_by_whom_it_ended() {
    for (is_merged, state) in [(true, PullRequestState::Merged), (false, PullRequestState::Closed)] {
        let bench = Bench::start().await;
        let commit = bench.commit().await;
        bench.remote().create_branch(BRANCH, &commit).await.unwrap();
        bench.open().await.unwrap();
        bench.server.end_pull_request("acme/kb", 1, "carol", is_merged);
        let found = bench.remote().pull_request(1).await.unwrap();
        assert_eq!((found.state, found.ended_by.as_deref()), (state, Some("carol")));
    }
}
