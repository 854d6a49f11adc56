//! The service against a fake GitHub, without a server in front.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lyceum_model::{Caller, Credential, Domain, MCP_READ, RelPath, SourceName, Tier};
use lyceum_source::{
    Folder, Source,
    github::{GitHub, RepoName},
};
use lyceum_testkit::TestGitHub;
use lyceum_tools::{CallContext, Error, Outcome, Prefix, Registry, View};
use reqwest::Url;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Library, Options, PartKind, PartOptions, Reader, SourceOptions, register};

const ALICE: &str = "ghp_alice";
const BOB: &str = "ghp_bob";

/// A library on a fake GitHub, whose index is built from a folder with the same files.
pub(crate) struct Bench {
    pub(crate) github: TestGitHub,
    pub(crate) library: Arc<Library>,
    _folder: TempDir,
}

impl Bench {
    pub(crate) async fn start(files: &[(&str, &str)], folder_of_parts: Option<&str>) -> Self {
        let github = TestGitHub::start().await.unwrap();
        github.add_person(1, "alice", &[ALICE], &[]);
        github.add_person(2, "bob", &[BOB], &[]);
        github.add_private_repository("acme/kb", &[ALICE]);
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            github.write("acme/kb", path, text).unwrap();
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let client = GitHub::new(&Url::parse(&github.url()).unwrap()).unwrap();
        let repo = RepoName::parse("acme/kb").unwrap();
        let name = SourceName::parse("kb").unwrap();
        let part = PartOptions {
            source: name.clone(),
            path: folder_of_parts.map(|folder| RelPath::parse(folder).unwrap()),
            reader: Reader::Caller { github: client, repo, branch: "main".to_owned() },
            links: Some("https://github.com/acme/kb/blob/{commit}/{path}".to_owned()),
        };
        let parts: BTreeMap<_, _> = PartKind::ALL.into_iter().map(|kind| (kind, part.clone())).collect();
        let source = Source::Folder(Folder::new(folder.path()));
        let sources = vec![SourceOptions { name, source, poll: Duration::from_secs(900) }];
        let library = Arc::new(Library::new(Options { sources, parts, prefix: Prefix::default() }));
        library.load_local();
        Self { github, library, _folder: folder }
    }

    async fn call_as(&self, token: Option<&str>, tool: &str, arguments: Value) -> Result<Value, Error> {
        let domain = Domain::from_static("library");
        let registry = register(Registry::builder(), &domain, &self.library).unwrap().build();
        let mut caller = Caller::known("github:1", Tier::Public, [MCP_READ]);
        if let Some(token) = token {
            caller = caller.acting_with(Credential::new(token.to_owned()));
        }
        let view = View::of_all(Arc::new(registry), Arc::new(caller));
        let Value::Object(arguments) = arguments else { panic!() };
        match view.call(tool, arguments, CallContext::default()).await? {
            Outcome::Done(result) => Ok(result.structured_content().unwrap()),
            Outcome::NeedInput(_) => panic!(),
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        self.call_as(Some(ALICE), tool, arguments).await
    }

    fn reads(&self) -> usize {
        self.github.contents_requests().len()
    }
}

const FILES: &[(&str, &str)] = &[
    ("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Forms\n---\n# PDF\n"),
    ("skills/pdf/run.py", "print(1)\n"),
    ("agents/reviewer.agent.md", "---\nname: reviewer\n---\nReview.\n"),
    ("docs/guide.md", "# Guide\n"),
    ("docs/api/index.md", "# API\n"),
    ("docs/tour.mdx", "# Tour\n"),
];

#[tokio::test]
async fn what_was_read_is_served_for_ten_minutes_and_then_asked_for_by_its_entity_tag() {
    let bench = Bench::start(FILES, None).await;
    let get = async || bench.call("get_skill", json!({ "name": "pdf" })).await.unwrap()["content"].clone();
    get().await;
    get().await;
    assert_eq!(bench.reads(), 1);
    tokio::time::pause();
    tokio::time::advance(crate::cache::TTL - Duration::from_secs(5)).await;
    tokio::time::resume();
    get().await;
    assert_eq!(bench.reads(), 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(6)).await;
    tokio::time::resume();
    assert!(get().await.as_str().unwrap().contains("# PDF"));
    let asked = bench.github.contents_requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].is_conditional, "{asked:?}");
    // What GitHub confirmed is good for another ten minutes.
    get().await;
    assert_eq!(bench.reads(), 2);
}

#[tokio::test]
async fn skip_cache_reads_what_is_there_now_and_refreshes_the_cache() {
    let bench = Bench::start(FILES, None).await;
    let get = async |skip: bool| {
        let answer = bench.call("get_skill", json!({ "name": "pdf", "skipCache": skip })).await.unwrap();
        answer["content"].as_str().unwrap().to_owned()
    };
    get(false).await;
    bench.github.write("acme/kb", "skills/pdf/SKILL.md", "newer").unwrap();
    assert!(get(false).await.contains("# PDF"));
    assert_eq!(get(true).await, "newer");
    assert_eq!(get(false).await, "newer");
    assert_eq!(bench.reads(), 2);
}

#[tokio::test]
async fn a_thousand_cold_reads_make_one_request() {
    let bench = Bench::start(FILES, None).await;
    bench.github.hold();
    let reads = (0..1_000).map(|_| bench.call("get_skill", json!({ "name": "pdf" })));
    let release = async {
        while bench.reads() == 0 {
            tokio::task::yield_now().await;
        }
        bench.github.release();
    };
    let (answers, ()) = futures::join!(futures::future::join_all(reads), release);
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap()["name"] == "pdf"));
    assert_eq!(bench.reads(), 1);
}

#[tokio::test]
async fn what_one_token_read_is_not_served_to_another() {
    let bench = Bench::start(FILES, None).await;
    bench.call("get_skill", json!({ "name": "pdf" })).await.unwrap();
    let refused = bench.call_as(Some(BOB), "get_skill", json!({ "name": "pdf" })).await.unwrap_err();
    assert_eq!(refused.code().as_str(), "NOT_FOUND");
    let refused = bench.call_as(None, "get_skill", json!({ "name": "pdf" })).await.unwrap_err();
    assert_eq!(refused.code().as_str(), "UNAUTHORIZED");
    // What a token may no longer read is dropped for it.
    bench.github.add_private_repository("acme/kb", &[]);
    let gone = bench.call("get_skill", json!({ "name": "pdf", "skipCache": true })).await.unwrap_err();
    assert_eq!(gone.details().unwrap()["githubStatus"], 404);
    bench.call("get_skill", json!({ "name": "pdf" })).await.unwrap_err();
}

#[tokio::test]
async fn a_page_is_an_index_then_a_file_then_where_the_index_has_it() {
    let bench = Bench::start(FILES, None).await;
    let file = async |path: &[&str]| {
        bench.call("get_doc", json!({ "path": path })).await.unwrap()["filePath"].clone()
    };
    assert_eq!(file(&["guide"]).await, "docs/guide.md");
    let asked = || bench.github.contents_requests().into_iter().map(|one| one.path).collect::<Vec<_>>();
    assert_eq!(
        asked(),
        ["/repos/acme/kb/contents/docs/guide/index.md", "/repos/acme/kb/contents/docs/guide.md"]
    );
    assert_eq!(file(&["guide"]).await, "docs/guide.md");
    assert_eq!(asked().len(), 2, "the whole answer is cached");
    assert_eq!(file(&["api"]).await, "docs/api/index.md");
    assert_eq!(file(&["api", "index"]).await, "docs/api/index.md");
    assert_eq!(file(&["tour"]).await, "docs/tour.mdx");
}

#[tokio::test]
async fn a_listed_name_is_read_from_where_it_is() {
    let bench = Bench::start(FILES, None).await;
    let agent = bench.call("get_agent", json!({ "name": "reviewer" })).await.unwrap();
    assert_eq!(agent["path"], "agents/reviewer.agent.md");
    let file = bench.call("get_skill_file", json!({ "skill": "pdf", "file": "run.py" })).await.unwrap();
    assert_eq!((&file["content"], &file["size"]), (&json!("cHJpbnQoMSkK"), &json!(9)));
    // What is not in the index yet is read where its name says.
    bench.github.write("acme/kb", "skills/new/SKILL.md", "new").unwrap();
    let new = bench.call("get_skill", json!({ "name": "new" })).await.unwrap();
    assert_eq!(new["path"], "skills/new/SKILL.md");
    let error = bench.call("get_skill", json!({ "name": "pfd" })).await.unwrap_err();
    assert!(error.to_string().contains("did you mean pdf? list_skills lists all"), "{error}");
}

#[tokio::test]
async fn lists_are_paged() {
    let files: Vec<(String, &str)> = (0..1_200).map(|n| (format!("skills/s{n:04}/SKILL.md"), "")).collect();
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in &files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let name = SourceName::parse("kb").unwrap();
    let reader = Reader::Server { repo: "kb".to_owned(), branch: None };
    let part = PartOptions { source: name.clone(), path: None, reader, links: None };
    let source = Source::Folder(Folder::new(folder.path()));
    let library = Library::new(Options {
        sources: vec![SourceOptions { name, source, poll: Duration::from_secs(900) }],
        parts: BTreeMap::from([(PartKind::Skills, part)]),
        prefix: Prefix::default(),
    });
    library.load_local();
    let bench = Bench { library: Arc::new(library), ..Bench::start(&[], None).await };
    let list = async |arguments: Value| {
        bench.call("list_skills", arguments).await.unwrap().as_array().unwrap().clone()
    };
    assert_eq!(list(json!({})).await.len(), 1000);
    let rest = list(json!({ "offset": 1000 })).await;
    assert_eq!((rest.len(), &rest[0]["name"]), (200, &json!("s1000")));
    assert_eq!(list(json!({ "offset": 5, "limit": 2 })).await.len(), 2);
    assert_eq!(bench.reads(), 0, "no list asks GitHub");
    // The server's own copy needs no token.
    let read = bench.call_as(None, "get_skill", json!({ "name": "s0007" })).await.unwrap();
    assert_eq!(read["sha"], "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "the id of an empty blob");
}
