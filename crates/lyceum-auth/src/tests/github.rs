//! Sign-in at GitHub, against a fake GitHub.

mod faults;
mod teams;

use lyceum_model::Tier;
use serde_json::json;

use super::{
    Bench, CALLBACK, ISSUER,
    fake_server::{FakeResponse, FakeServer, ReceivedRequest},
};
use crate::{GitHub, GitHubSettings, ResumeError, SignInFault, StartedSignIn, Team, oauth::Params};

const SECRET: &str = "secret-of-the-application";
const OPERATORS_TOKEN: &str = "ghp_of_the_operator";
const PERSONS_TOKEN: &str = "gho_of_the_person";
const CODE: &str = "code-from-github";

/// State of the fake GitHub: one user, and their membership of an organisation and a team.
#[derive(Debug, Clone)]
struct World {
    login: &'static str,
    organisation: Option<&'static str>,
    team: Option<&'static str>,
}

impl World {
    fn new() -> Self {
        Self { login: "ada", organisation: Some("active"), team: None }
    }

    /// Responds as documented by GitHub.
    fn respond(&self, request: &ReceivedRequest) -> FakeResponse {
        let is_from = |token: &str| request.headers.get("authorization") == Some(&format!("Bearer {token}"));
        let person = json!({
            "login": self.login, "id": 42, "node_id": "MDQ6VXNlcjQy", "type": "User",
            "avatar_url": "https://avatars.example.org/u/42", "name": null, "site_admin": false,
        });
        let member = |state: Option<&str>| match state {
            Some(state) => {
                FakeResponse::json(&json!({ "state": state, "role": "member", "url": "https://x" }))
            }
            None => refusal(404, "Not Found"),
        };
        let of_team = format!("GET /api/v3/orgs/acme/teams/core/memberships/{}", self.login);
        let of_organisation = format!("GET /api/v3/orgs/acme/memberships/{}", self.login);
        match request.line.as_str() {
            "POST /login/oauth/access_token" => self.granted(request),
            "GET /api/v3/user" if is_from(PERSONS_TOKEN) => FakeResponse::json(&person),
            "GET /api/v3/user" => refusal(401, "Bad credentials"),
            _ if !is_from(OPERATORS_TOKEN) => refusal(401, "Requires authentication"),
            "GET /api/v3/user/42" => FakeResponse::json(&person),
            what if what == of_team => member(self.team),
            what if what == of_organisation => member(self.organisation),
            _ => refusal(404, "Not Found"),
        }
    }

    /// GitHub reports an invalid code with status 200.
    fn granted(&self, request: &ReceivedRequest) -> FakeResponse {
        let form = Params::parse(&request.body).unwrap();
        let sent = ["client_id", "client_secret", "code", "redirect_uri"].map(|name| form.get(name));
        let callback = format!("{ISSUER}/github/callback");
        if sent == [Some("the-application"), Some(SECRET), Some(CODE), Some(&callback)] {
            return FakeResponse::json(
                &json!({ "access_token": PERSONS_TOKEN, "scope": "", "token_type": "bearer" }),
            );
        }
        FakeResponse::json(&json!({
            "error": "bad_verification_code",
            "error_description": "The code passed is incorrect or expired.",
            "error_uri": "https://docs.github.com/apps/managing-oauth-apps",
        }))
    }
}

fn refusal(status: u16, message: &str) -> FakeResponse {
    FakeResponse::Status(status, json!({ "message": message, "status": status.to_string() }).to_string())
}

/// A fake GitHub, and a server that uses it for sign-in.
struct Scene {
    site: FakeServer,
    bench: Bench,
}

impl Scene {
    async fn start(world: World) -> Self {
        let site = FakeServer::start(move |request| world.respond(request)).await;
        let github = GitHub::new(settings(&site.url, Some(OPERATORS_TOKEN))).unwrap();
        Self { site, bench: Bench::with(|settings| settings.github = Some(github)) }
    }

    fn becomes(&self, world: World) {
        self.site.respond_with(move |request| world.respond(request));
    }

    /// Sends `answer` to requests whose path ends with `ending`.
    fn answers(&self, ending: &'static str, answer: FakeResponse) {
        let world = World::new();
        self.site.respond_with(move |request| {
            if request.line.ends_with(ending) { answer.clone() } else { world.respond(request) }
        });
    }

    async fn back(&self, started: &StartedSignIn, code: Option<&str>) -> Result<String, SignInFault> {
        let (auth, now) = (&self.bench.auth, self.bench.now);
        auth.to_github(&started.state, Some(&started.browser), now).await.unwrap();
        auth.from_github(&started.sign_in.id, code, Some(&started.browser), now).await
    }

    async fn sign_in(&self) -> Result<String, SignInFault> {
        let started = self.bench.begin().await;
        self.back(&started, Some(CODE)).await
    }

    /// Signs in; returns the access token and the refresh token.
    async fn tokens(&self) -> (String, String) {
        let sent = self.sign_in().await.unwrap();
        let params = Params::parse(sent.split_once('?').unwrap().1).unwrap();
        let issued = self.bench.redeem(params.get("code").unwrap()).await.unwrap();
        (issued.access.reveal().to_owned(), issued.refresh.reveal().to_owned())
    }
}

fn settings(url: &str, token: Option<&str>) -> GitHubSettings {
    let team = |text: &str, tier: Tier| (Team::parse(text).unwrap(), tier);
    GitHubSettings {
        web: url.to_owned(),
        api: format!("{url}/api/v3/"),
        client_id: "the-application".to_owned(),
        client_secret: SECRET.to_owned(),
        token: token.map(str::to_owned),
        tiers: vec![team("acme", Tier::Member), team("acme/core", Tier::Vibecoder)],
    }
}

#[tokio::test]
async fn a_person_is_sent_to_github_with_what_it_needs_to_know() {
    let scene = Scene::start(World::new()).await;
    let started = scene.bench.begin().await;
    let auth = &scene.bench.auth;
    let sent = auth.to_github(&started.state, Some(&started.browser), scene.bench.now).await.unwrap();
    let (address, query) = sent.split_once('?').unwrap();
    assert_eq!(address, format!("{}/login/oauth/authorize", scene.site.url));
    let params = Params::parse(query).unwrap();
    assert_eq!(params.get("client_id"), Some("the-application"));
    assert_eq!(params.get("redirect_uri"), Some("http://127.0.0.1:8787/github/callback"));
    assert_eq!(params.get("state"), Some(started.sign_in.id.as_str()));
    // No scope is requested: the identity can be read without one.
    assert_eq!(params.get("scope"), None);
    assert!(scene.site.take_requests().is_empty());
}

#[tokio::test]
async fn a_person_who_comes_back_is_known_by_their_number() {
    let scene = Scene::start(World::new()).await;
    let (access, _) = scene.tokens().await;
    let (auth, now) = (&scene.bench.auth, scene.bench.now);
    let caller = auth.admit(Some(&access), &format!("{ISSUER}/mcp"), now).await.unwrap();
    assert_eq!((caller.subject(), caller.tier()), (Some("github:42"), Tier::Member));
    let account = auth.account("github:42", None, now).await.unwrap();
    assert_eq!(account.profile.github.as_deref(), Some("ada"));
    assert_eq!(account.profile.avatar.as_deref(), Some("https://avatars.example.org/u/42"));
}

#[tokio::test]
async fn each_token_goes_where_it_belongs_and_nowhere_else() {
    let scene = Scene::start(World::new()).await;
    scene.tokens().await;
    let requests = scene.site.take_requests();
    let sent = |token: &str| -> Vec<&str> {
        let is_with = |request: &&ReceivedRequest| format!("{request:?}").contains(token);
        requests.iter().filter(is_with).map(|request| request.line.as_str()).collect()
    };
    let exchange = ["POST /login/oauth/access_token"];
    assert_eq!(sent(SECRET), exchange);
    assert_eq!(sent(CODE), exchange);
    assert_eq!(sent(PERSONS_TOKEN), ["GET /api/v3/user"]);
    assert_eq!(
        sent(OPERATORS_TOKEN),
        [
            "GET /api/v3/user/42",
            "GET /api/v3/orgs/acme/memberships/ada",
            "GET /api/v3/orgs/acme/teams/core/memberships/ada",
        ]
    );
    for one in &requests {
        // GitHub rejects requests without a user agent.
        assert!(one.headers["user-agent"].starts_with("lyceum/"), "{one:?}");
        assert!(one.headers["accept"].ends_with("json"), "{one:?}");
    }
}

#[tokio::test]
async fn nothing_secret_is_kept_or_shown() {
    let scene = Scene::start(World::new()).await;
    let (_, refresh) = scene.tokens().await;
    scene.bench.refresh(&refresh).await.unwrap();
    let files = std::fs::read_dir(scene.bench.folder.path()).unwrap();
    let files: Vec<Vec<u8>> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    let holds =
        |text: &str| files.iter().any(|file| file.windows(text.len()).any(|part| part == text.as_bytes()));
    assert!(holds("github:42"));
    let shown = format!("{:?}", scene.bench.auth);
    for secret in [SECRET, OPERATORS_TOKEN, PERSONS_TOKEN, CODE] {
        assert!(!holds(secret), "{secret}");
        assert!(!shown.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_person_who_says_no_at_github_is_sent_back_with_that() {
    let scene = Scene::start(World::new()).await;
    let started = scene.bench.begin().await;
    let sent = scene.back(&started, None).await.unwrap();
    assert!(sent.starts_with(&format!("{CALLBACK}?error=access_denied&")), "{sent}");
    assert!(scene.site.take_requests().is_empty());
}

#[tokio::test]
async fn a_way_back_is_for_one_sign_in_and_its_browser_and_once() {
    let scene = Scene::start(World::new()).await;
    let (auth, now) = (&scene.bench.auth, scene.bench.now);
    let (started, other) = (scene.bench.begin().await, scene.bench.begin().await);
    let back = async |id: &str, browser: &str| auth.from_github(id, Some(CODE), Some(browser), now).await;
    let assert_lost = |result: &Result<String, SignInFault>, why: ResumeError| {
        assert!(matches!(result, Err(SignInFault::Lost(lost)) if *lost == why), "{result:?}");
    };
    assert_lost(&back(&started.sign_in.id, &started.browser).await, ResumeError::Unknown);
    auth.to_github(&started.state, Some(&started.browser), now).await.unwrap();
    assert_lost(&back(&started.sign_in.id, &other.browser).await, ResumeError::OtherBrowser);
    assert!(scene.site.take_requests().is_empty());
    scene.back(&started, Some(CODE)).await.unwrap();
    assert_lost(&back(&started.sign_in.id, &started.browser).await, ResumeError::Unknown);
    let again = scene.back(&started, Some(CODE)).await;
    assert!(matches!(again, Err(SignInFault::Used)), "{again:?}");
}
