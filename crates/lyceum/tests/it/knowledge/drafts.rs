//! Drafts end to end: the real program, a Git server, and a fake GitHub over the same repository.

mod kills;
mod refusals;
mod retries;

use std::{io, path::Path};

use http::header;
use lyceum_auth::{Kind, Token};
use lyceum_store::{Db, audit::AuditRow};
use lyceum_testkit::{Checkout, GitServer, TestGitHub};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stage::{Program, eventually, published};
use crate::app::{Request, call, get, modern};

/// The token of the server at GitHub.
const SERVER_TOKEN: &str = "ghp_server_canary_51c2";

/// A repository at GitHub, with a Git server for clones, and callers with API keys.
struct Stage {
    git: GitServer,
    kb: Checkout,
    github: TestGitHub,
    folder: TempDir,
    member: Token,
    contributor: Token,
}

impl Stage {
    async fn new() -> Self {
        let stage = Self::without_configuration().await;
        let (web, api) = (stage.git.origin(), stage.github.url());
        stage.configure(&format!("token_env = \"DRAFTS_TOKEN\"\nweb = {web:?}\napi = {api:?}\n"));
        stage
    }

    async fn without_configuration() -> Self {
        let git = GitServer::start().await.unwrap();
        let kb = git.checkout("acme/kb.git").unwrap();
        kb.write("notes/first.md", published("First", "one")).unwrap();
        let link =
            "---\ntitle: Known\ndate: 2026-01-01\npublish: true\nurl: https://known.example.org/page\n---\n";
        kb.write("links/known.md", link).unwrap();
        kb.publish().await.unwrap();
        let github = TestGitHub::start().await.unwrap();
        github.add_person(1, "lyceum-bot", &[SERVER_TOKEN], &[]);
        github.add_writable_repository("acme/kb", &git.folder("acme/kb.git"));
        let key = || Token::random(Kind::Key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self { git, kb, github, folder, member: key(), contributor: key() }
    }

    /// Writes the configuration, with these lines of `[knowledge.drafts]`.
    fn configure(&self, drafts: &str) {
        let key = |name: &str, tier: &str| {
            format!(
                "[[auth.api_key]]\nname = {name:?}\ntier = {tier:?}\nkey_env = \"KEY_{}\"\n",
                name.to_uppercase()
            )
        };
        let text = format!(
            "[[source]]\nname = \"kb\"\nurl = {:?}\n[knowledge]\nsource = \"kb\"\ntitle = \"Test\"\n[knowledge.drafts]\n\
             {drafts}[auth]\nmode = \"api-key\"\n{}{}",
            self.kb.url(),
            key("member", "member"),
            key("contributor", "vibecoder"),
        );
        std::fs::write(self.folder.path().join("lyceum.toml"), text).unwrap();
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the program, and waits until it serves the repository.
    async fn start(&self) -> Program {
        self.start_with(&[]).await
    }

    async fn start_with(&self, variables: &[(&str, &str)]) -> Program {
        let config = self.folder.path().join("lyceum.toml").display().to_string();
        let own = [
            ("LYCEUM_CONFIG", config.as_str()),
            ("DRAFTS_TOKEN", SERVER_TOKEN),
            ("KEY_MEMBER", self.member.reveal()),
            ("KEY_CONTRIBUTOR", self.contributor.reveal()),
        ];
        let variables: Vec<_> = own.iter().chain(variables).copied().collect();
        let program = Program::start(self.folder.path(), &self.data(), &variables).await;
        eventually("it is ready", || async {
            let answer = program.send(get("/readyz")).await.map_err(|error| error.to_string())?;
            if answer.status == 200 { Ok(()) } else { Err(answer.text().to_owned()) }
        })
        .await;
        program
    }

    /// The branches of drafts, with their commits.
    fn branches(&self) -> Vec<(String, String)> {
        let said = self.git_of_server(&[
            "for-each-ref",
            "--format=%(refname:short) %(objectname)",
            "refs/heads/lyceum",
        ]);
        said.lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, id)| (name.into(), id.into()))
            .collect()
    }

    /// Runs git in the repository of the server.
    fn git_of_server(&self, arguments: &[&str]) -> String {
        let folder = self.git.folder("acme/kb.git").display().to_string();
        let arguments: Vec<&str> = ["--git-dir", &folder].iter().chain(arguments).copied().collect();
        self.kb.git(arguments).unwrap()
    }

    /// The audit rows of approvals.
    fn approvals(&self) -> Vec<AuditRow> {
        approvals(&self.data())
    }
}

fn approvals(data: &Path) -> Vec<AuditRow> {
    let db = Db::open(&data.join("auth.db")).unwrap();
    let rows = db.read_blocking(|tx| lyceum_store::audit::after(tx, 0, 100_000)).unwrap();
    rows.into_iter().filter(|row| row.kind == "approved").collect()
}

fn with_key(mut request: Request, key: &Token) -> Request {
    let value = format!("Bearer {}", key.reveal()).parse().unwrap();
    request.headers_mut().insert(header::AUTHORIZATION, value);
    request
}

/// A call by a client that can ask its user.
fn asking(tool: &str, arguments: &Value, more: &Value) -> Request {
    let capabilities =
        json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } });
    let mut params = json!({ "name": tool, "arguments": arguments, "_meta": capabilities });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    modern("tools/call", &params)
}

/// The first round of a call: a question, or the result.
async fn ask(program: &Program, key: &Token, tool: &str, arguments: &Value) -> io::Result<Value> {
    Ok(program.send(with_key(asking(tool, arguments, &json!({})), key)).await?.result())
}

/// The second round: the user answers.
async fn answer(
    program: &Program,
    key: &Token,
    (tool, arguments): (&str, &Value),
    question: &Value,
    answer: &Value,
) -> io::Result<Value> {
    let more = json!({ "inputResponses": { "approval": answer }, "requestState": question["requestState"] });
    Ok(program.send(with_key(asking(tool, arguments, &more), key)).await?.result())
}

/// Both rounds, with approval.
async fn approved(program: &Program, key: &Token, tool: &str, arguments: &Value) -> io::Result<Value> {
    let question = ask(program, key, tool, arguments).await?;
    if question.get("inputRequests").is_none() {
        return Ok(question);
    }
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    answer(program, key, (tool, arguments), &question, &yes).await
}

fn article(title: &str) -> Value {
    json!({
        "contentType": "article", "title": title, "content": "# Ferries\n\nAsk @alice, see #12.",
        "fields": { "description": "How to ferry", "tags": ["boats", "water: \"deep\""] },
    })
}

#[tokio::test]
async fn an_approved_draft_becomes_one_pull_request_and_is_listed_until_it_is_merged() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    let arguments = article("On ferries, by @bob: fixes #3");
    let question = ask(&program, &stage.contributor, "create_draft", &arguments).await.unwrap();
    let message = question["inputRequests"]["approval"]["params"]["message"].as_str().unwrap();
    assert!(message.contains("artifacts/articles/on-ferries-by-bob-fixes-3.md"), "{message}");
    assert_eq!(stage.github.pull_requests("acme/kb"), [], "nothing happens before the approval");
    assert_eq!(stage.branches(), []);

    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let call_of = ("create_draft", &arguments);
    let done = answer(&program, &stage.contributor, call_of, &question, &yes).await.unwrap();
    let draft = &done["structuredContent"];
    assert_eq!(draft["state"], "open", "{done}");
    assert_eq!(draft["url"], "https://github.example.org/acme/kb/pull/1");

    let pulls = stage.github.pull_requests("acme/kb");
    let [pull] = pulls.as_slice() else { panic!("{pulls:?}") };
    assert!(pull.is_draft && pull.base == "main", "{pull:?}");
    assert_eq!(pull.title, "Draft: On ferries, by @ bob: fixes # 3");
    assert!(
        pull.body.contains("written by a model") && pull.body.contains("`key:contributor#"),
        "{}",
        pull.body
    );
    assert!(!pull.body.contains("@bob") && !pull.body.contains("#3"), "{}", pull.body);

    let branches = stage.branches();
    let [(branch, commit)] = branches.as_slice() else { panic!("{branches:?}") };
    assert_eq!((branch, commit.as_str()), (&pull.head, draft["commitSha"].as_str().unwrap()));
    assert_eq!(stage.git_of_server(&["rev-list", "--count", &format!("main..{commit}")]).trim(), "1");
    let message_of = stage.git_of_server(&["log", "-1", "--format=%B", commit]);
    assert!(message_of.contains("On ferries, by @ bob: fixes # 3"), "{message_of}");
    let file = format!("{commit}:{}", draft["path"].as_str().unwrap());
    let text = stage.git_of_server(&["show", &file]);
    // What the person approved is what is committed.
    assert!(
        message.ends_with(text.trim_end()) || message.trim_end().ends_with(text.trim_end()),
        "{message}\n{text}"
    );
    assert!(text.contains("writtenBy: model\n") && text.contains("draft: true\n"), "{text}");

    let rows = stage.approvals();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].detail.contains(draft["id"].as_str().unwrap()), "{rows:?}");

    // The same request is the same draft, without another question.
    let again = ask(&program, &stage.contributor, "create_draft", &arguments).await.unwrap();
    assert_eq!(again["structuredContent"]["id"], draft["id"]);
    assert_eq!((stage.github.pull_requests("acme/kb").len(), stage.approvals().len()), (1, 1));

    let listed = async || {
        let listed =
            program.send(with_key(call("list_drafts", &json!({})), &stage.member)).await.unwrap().result();
        listed["structuredContent"]["drafts"].clone()
    };
    assert_eq!(listed().await[0]["state"], "open");
    stage.github.end_pull_request("acme/kb", 1, "carol", true);
    eventually("the draft is merged", || async {
        let listed = listed().await;
        let ended = (listed[0]["state"].as_str(), listed[0]["endedBy"].as_str());
        if ended == (Some("merged"), Some("carol")) { Ok(()) } else { Err(listed.to_string()) }
    })
    .await;

    let by_operator =
        program.send(with_key(get("/api/v1/drafts?state=merged"), &stage.contributor)).await.unwrap();
    assert_eq!(by_operator.status, 200);
    assert_eq!(by_operator.json()["drafts"].as_array().unwrap().len(), 1);
    assert_eq!(program.send(get("/api/v1/drafts")).await.unwrap().status, 401);
    let bad = program.send(with_key(get("/api/v1/drafts?limit=none"), &stage.contributor)).await.unwrap();
    assert_eq!(bad.status, 400, "{bad:?}");
    assert!(!program.log().contains(SERVER_TOKEN));
}

#[tokio::test]
async fn a_link_is_saved_once_per_page() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    let save = async |url: &str| {
        let arguments = json!({ "url": url, "title": "A page", "description": "About pages" });
        approved(&program, &stage.member, "save_link", &arguments).await.unwrap()["structuredContent"].clone()
    };
    let known = save("http://known.example.org/page/?utm_source=mail#top").await;
    assert_eq!(known["document"]["id"], "known", "{known}");
    assert_eq!(stage.github.pull_requests("acme/kb"), []);

    let first = save("https://new.example.org/a?fbclid=1").await;
    assert_eq!(
        (&first["url"], &first["draft"]["state"]),
        (&json!("https://new.example.org/a"), &json!("open"))
    );
    let path = first["draft"]["path"].as_str().unwrap();
    assert_eq!(path, "links/a-page.md");
    let second = save("http://NEW.example.org/a/#b").await;
    assert_eq!(second["draft"]["id"], first["draft"]["id"]);
    assert_eq!(stage.github.pull_requests("acme/kb").len(), 1);
    let text =
        stage.git_of_server(&["show", &format!("{}:{path}", first["draft"]["branch"].as_str().unwrap())]);
    assert!(
        text.contains("url: \"https://new.example.org/a\"\n") && text.contains("publish: true\n"),
        "{text}"
    );
}

#[tokio::test]
async fn outside_of_github_a_branch_is_pushed() {
    let stage = Stage::without_configuration().await;
    stage.configure("");
    let program = stage.start().await;
    let done = approved(&program, &stage.contributor, "create_draft", &article("On rafts")).await.unwrap();
    let draft = &done["structuredContent"];
    assert_eq!(draft["state"], "pushed", "{done}");
    let branches = stage.branches();
    let [(branch, commit)] = branches.as_slice() else { panic!("{branches:?}") };
    assert_eq!(
        (branch.as_str(), commit.as_str()),
        (draft["branch"].as_str().unwrap(), draft["commitSha"].as_str().unwrap())
    );
    assert_eq!(stage.git_of_server(&["rev-list", "--count", &format!("main..{commit}")]).trim(), "1");
    let changed = stage.git_of_server(&["diff", "--name-status", "main", commit]);
    assert_eq!(changed.trim(), "A\tartifacts/articles/on-rafts.md");
    stage.git_of_server(&["fsck", "--strict"]);
    let again = approved(&program, &stage.contributor, "create_draft", &article("On rafts")).await.unwrap();
    assert_eq!(again["structuredContent"]["commitSha"], draft["commitSha"]);
    assert_eq!((stage.branches().len(), stage.approvals().len()), (1, 1));
}
