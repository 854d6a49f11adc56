//! The client against a fake GitHub over real sockets.

mod drafts;

use std::time::Duration;

use lyceum_model::{ErrorCode, RelPath};
use lyceum_net::Secret;
use lyceum_testkit::{ScriptedResponse, TestGitHub};
use reqwest::Url;
use tokio::time::Instant;

use super::{Contents, EntryKind, Error, Fetched, GitHub, MAX_FILE_BYTES, RepoName, Request};

const TOKEN: &str = "ghp_alice0123456789";

struct Bench {
    server: TestGitHub,
    github: GitHub,
    token: Secret,
}

impl Bench {
    async fn start() -> Self {
        let server = TestGitHub::start().await.unwrap();
        server.add_person(1, "alice", &[TOKEN], &[]);
        server.add_repository("acme/kb");
        server.write("acme/kb", "a/plain.md", "# Plain\n").unwrap();
        let github = GitHub::new(&Url::parse(&server.url()).unwrap()).unwrap();
        Self { server, github, token: Secret::for_header(TOKEN).unwrap() }
    }

    async fn read(&self, path: &str) -> Result<Contents, Error> {
        match self.read_unless(path, None).await? {
            Fetched::Changed { value, .. } => Ok(value),
            Fetched::Unchanged => panic!("nothing was known"),
        }
    }

    async fn read_unless(&self, path: &str, etag: Option<&str>) -> Result<Fetched<Contents>, Error> {
        self.read_within(path, etag, Duration::from_secs(20)).await
    }

    async fn read_within(
        &self,
        path: &str,
        etag: Option<&str>,
        limit: Duration,
    ) -> Result<Fetched<Contents>, Error> {
        let (repo, path) = (RepoName::parse("acme/kb").unwrap(), RelPath::parse(path).unwrap());
        let deadline = Instant::now() + limit;
        self.github.contents(Some(&self.token), (&repo, "main"), &path, etag, deadline).await
    }

    async fn text(&self, path: &str) -> String {
        match self.read(path).await.unwrap() {
            Contents::File(file) => String::from_utf8(file.bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

fn status(status: u16, headers: &[(&'static str, &str)], message: &'static str) -> ScriptedResponse {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    ScriptedResponse::Status(status, headers, message)
}

#[tokio::test]
async fn a_file_is_read_with_the_token_from_its_branch() {
    let bench = Bench::start().await;
    assert_eq!(bench.text("a/plain.md").await, "# Plain\n");
    bench.server.write("acme/kb", "a/what? #1 é.md", "odd").unwrap();
    assert_eq!(bench.text("a/what? #1 é.md").await, "odd");
    let asked = bench.server.contents_requests();
    assert_eq!(asked[0].path, "/repos/acme/kb/contents/a/plain.md");
    assert_eq!((asked[0].branch.as_str(), asked[0].token.as_deref()), ("main", Some(TOKEN)));
}

#[tokio::test]
async fn what_is_not_a_file_is_told_apart() {
    let bench = Bench::start().await;
    bench.server.link("acme/kb", "a/link.md", "a/plain.md");
    bench.server.link("acme/kb", "a/broken.md", "../elsewhere");
    bench.server.add_submodule("acme/kb", "vendor", "https://github.com/acme/other.git");
    assert_eq!(bench.text("a/link.md").await, "# Plain\n");
    assert_eq!(bench.read("a/broken.md").await, Ok(Contents::Symlink { target: "../elsewhere".to_owned() }));
    let url = "https://github.com/acme/other.git".to_owned();
    assert_eq!(bench.read("vendor").await, Ok(Contents::Submodule { url }));
    let entries =
        [("broken.md", EntryKind::Symlink), ("link.md", EntryKind::Symlink), ("plain.md", EntryKind::File)];
    let entries = entries.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
    assert_eq!(bench.read("a").await, Ok(Contents::Directory(entries)));
}

#[tokio::test]
async fn a_large_file_is_read_as_it_is_and_a_huge_one_not_at_all() {
    let bench = Bench::start().await;
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    bench.server.write("acme/kb", "large.bin", &large).unwrap();
    let Ok(Contents::File(file)) = bench.read("large.bin").await else { panic!() };
    assert!(file.bytes == large);
    let asked = bench.server.contents_requests();
    assert_eq!(asked.iter().filter(|one| one.accept.contains("raw")).count(), 1, "{asked:?}");
    // The fake computes its ids by git itself.
    bench.server.write("acme/kb", "small.bin", b"x").unwrap();
    let Ok(Contents::File(small)) = bench.read("small.bin").await else { panic!() };
    assert_eq!(super::blob_id(&small.bytes), Some(small.sha));

    bench.server.write("acme/kb", "huge.bin", vec![0; MAX_FILE_BYTES + 1]).unwrap();
    assert_eq!(bench.read("huge.bin").await, Err(Error::TooLarge { limit: MAX_FILE_BYTES }));
}

#[tokio::test]
async fn an_entity_tag_saves_the_transfer() {
    let bench = Bench::start().await;
    let Ok(Fetched::Changed { etag: Some(etag), .. }) = bench.read_unless("a/plain.md", None).await else {
        panic!()
    };
    assert_eq!(bench.read_unless("a/plain.md", Some(&etag)).await, Ok(Fetched::Unchanged));
    bench.server.write("acme/kb", "a/plain.md", "new").unwrap();
    assert!(matches!(bench.read_unless("a/plain.md", Some(&etag)).await, Ok(Fetched::Changed { .. })));
}

#[tokio::test]
async fn statuses_have_their_own_errors() {
    let bench = Bench::start().await;
    let check = async |answer: ScriptedResponse, code: ErrorCode, expected: u16, message: &str| {
        bench.server.script([answer]);
        let error = bench.read("a/plain.md").await.unwrap_err();
        assert_eq!((error.code(), error.status()), (code, Some(expected)), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    };
    check(status(401, &[], "Bad credentials"), ErrorCode::Unauthorized, 401, "does not accept the token")
        .await;
    let left = [("x-ratelimit-remaining", "4999")];
    let refusal = "Resource protected by organization SAML enforcement.";
    check(status(403, &left, refusal), ErrorCode::Forbidden, 403, "SAML enforcement").await;
    check(status(404, &[], "Not Found"), ErrorCode::NotFound, 404, "not found at GitHub").await;
    check(status(451, &[], "Unavailable"), ErrorCode::UpstreamError, 451, "451").await;
    let leaky = "token ghp_alice0123456789 is bad";
    check(status(422, &[], leaky), ErrorCode::UpstreamError, 422, "token … is bad").await;
    assert_eq!(bench.text("a/plain.md").await, "# Plain\n", "none of them is remembered");
}

#[tokio::test]
async fn a_rate_limited_token_is_not_sent_again_until_the_limit_is_over() {
    for answer in [
        status(403, &[("retry-after", "90")], "You have exceeded a secondary rate limit."),
        status(429, &[("x-ratelimit-remaining", "0")], "API rate limit exceeded"),
    ] {
        let bench = Bench::start().await;
        bench.server.script([answer]);
        for _ in 0..3 {
            let error = bench.read("a/plain.md").await.unwrap_err();
            let Error::RateLimited { retry_after, .. } = error else { panic!("{error}") };
            assert!(retry_after > Duration::from_secs(50), "{error}");
            assert_eq!(error.code(), ErrorCode::UpstreamError);
        }
        assert_eq!(bench.server.contents_requests().len(), 1);
        // The limit is of that token, not of the server.
        bench.server.add_person(2, "bob", &["ghp_bob"], &[]);
        let bob = Bench { token: Secret::for_header("ghp_bob").unwrap(), ..bench };
        assert_eq!(bob.text("a/plain.md").await, "# Plain\n");
    }
}

#[tokio::test]
async fn a_short_limit_and_a_failing_server_are_waited_for() {
    let bench = Bench::start().await;
    bench.server.script([status(429, &[("retry-after", "1")], ""), status(502, &[], "")]);
    assert_eq!(bench.text("a/plain.md").await, "# Plain\n");
    assert_eq!(bench.server.contents_requests().len(), 3);

    bench.server.script([status(500, &[], ""), status(500, &[], ""), status(503, &[], "")]);
    let error = bench.read("a/plain.md").await.unwrap_err();
    assert_eq!(error.status(), Some(503), "three attempts are all");
}

#[tokio::test]
async fn a_deadline_holds_whatever_github_does() {
    let bench = Bench::start().await;
    bench.server.script([ScriptedResponse::Never]);
    let (start, limit) = (Instant::now(), Duration::from_millis(300));
    let error = bench.read_within("a/plain.md", None, limit).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut | Error::Unreachable { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
    // A limit that is over only after the deadline is not waited for.
    bench.server.script([status(503, &[], "")]);
    assert_eq!(
        bench.read_within("a/plain.md", None, Duration::from_millis(100)).await.unwrap_err().status(),
        Some(503)
    );
}

#[tokio::test]
async fn a_renamed_repository_is_followed_but_the_token_stays_on_its_host() {
    let bench = Bench::start().await;
    bench.server.rename_repository("acme/kb", "acme/handbook");
    assert_eq!(bench.text("a/plain.md").await, "# Plain\n");

    let stranger = TestGitHub::start().await.unwrap();
    bench.server.redirect_contents(&stranger.url());
    let error = bench.read("a/plain.md").await.unwrap_err();
    assert_eq!(error, Error::Redirected { status: 302 });
    assert_eq!(stranger.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn a_post_that_github_may_have_got_is_not_repeated() {
    let bench = Bench::start().await;
    let post = Request::post("repos/acme/kb/git/refs", serde_json::json!({ "ref": "refs/heads/x" }));
    bench.server.script([status(502, &[], "")]);
    let deadline = Instant::now() + Duration::from_secs(20);
    let error = bench.github.send(Some(&bench.token), &post, deadline).await.unwrap_err();
    assert_eq!(error.status(), Some(502));
    assert_eq!(bench.server.contents_requests().len(), 1);
}

#[test]
fn neither_a_client_nor_a_hash_shows_a_token() {
    let github = GitHub::new(&Url::parse("https://api.github.com").unwrap()).unwrap();
    let token = Secret::for_header(TOKEN).unwrap();
    let hash = github.token_hash(Some(&token));
    assert_eq!(hash, github.token_hash(Some(&token)));
    assert_ne!(hash, github.token_hash(None));
    let other = GitHub::new(&Url::parse("https://api.github.com").unwrap()).unwrap();
    assert_ne!(hash, other.token_hash(Some(&token)), "a hash means nothing elsewhere");
    assert!(!format!("{github:?} {hash:?}").contains("alice"));
}
