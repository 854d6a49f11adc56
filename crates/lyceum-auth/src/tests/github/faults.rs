//! Failures of GitHub.

use lyceum_store::{Db, audit};

use super::{CODE, Scene, World, refusal};
use crate::{
    AdmissionError, SignInFault,
    oauth::Fault,
    tests::{ISSUER, fake_server::FakeResponse},
};

/// Responses that say nothing about the user: GitHub is unavailable.
fn outages() -> Vec<FakeResponse> {
    vec![
        refusal(403, "API rate limit exceeded for user ID 1."),
        refusal(429, "You have exceeded a secondary rate limit."),
        refusal(422, "Validation Failed"),
        refusal(500, "Server Error"),
        refusal(503, "Service unavailable"),
        FakeResponse::Status(301, "{\"message\":\"Moved Permanently\"}".to_owned()),
        FakeResponse::Status(200, String::new()),
        FakeResponse::Status(200, "<!DOCTYPE html><title>Unicorn!</title>".to_owned()),
        FakeResponse::Status(200, "[]".to_owned()),
        FakeResponse::Status(200, "{\"id\":\"42\",\"login\":7,\"state\":1,\"access_token\":{}}".to_owned()),
        FakeResponse::Status(200, format!("\"{}\"", "x".repeat(300_000))),
        FakeResponse::TimeOut,
    ]
}

impl Scene {
    /// Kinds of audit events.
    fn record(&self) -> Vec<String> {
        let db = Db::open(&self.bench.folder.path().join("auth.db")).unwrap();
        let lines = db.read_blocking(|tx| audit::after(tx, 0, 100)).unwrap();
        lines.into_iter().map(|line| line.kind).collect()
    }

    /// Signs in while GitHub responds so, and resumes the clock if it was paused.
    async fn sign_in_while(
        &self,
        ending: &'static str,
        answer: &FakeResponse,
    ) -> Result<String, SignInFault> {
        self.answers(ending, answer.clone());
        let result = self.sign_in().await;
        if matches!(answer, FakeResponse::TimeOut) {
            tokio::time::resume();
        }
        result
    }
}

#[tokio::test]
async fn a_code_that_is_not_good_is_no_sign_in() {
    let scene = Scene::start(World::new()).await;
    for code in ["made-up", "", "code-from-github%00", "a&client_id=other"] {
        let started = scene.bench.begin().await;
        let result = scene.back(&started, Some(code)).await;
        assert!(matches!(result, Err(SignInFault::NotSigned)), "{code:?}: {result:?}");
    }
    // No user was looked up.
    assert!(scene.site.take_requests().iter().all(|request| request.line.starts_with("POST ")));
    assert_eq!(scene.record(), ["sign_in_refused"; 4]);
}

#[tokio::test]
async fn a_code_that_github_has_nothing_for_is_no_sign_in() {
    let scene = Scene::start(World::new()).await;
    for answer in [refusal(404, "Not Found"), FakeResponse::Status(200, "{}".to_owned())] {
        let result = scene.sign_in_while("/access_token", &answer).await;
        assert!(matches!(result, Err(SignInFault::NotSigned)), "{answer:?}: {result:?}");
    }
}

#[tokio::test]
async fn while_github_can_not_be_asked_nobody_signs_in() {
    let scene = Scene::start(World::new()).await;
    for ending in ["/access_token", "/user", "/user/42", "/orgs/acme/memberships/ada"] {
        for answer in outages().into_iter().chain([refusal(401, "Bad credentials")]) {
            let result = scene.sign_in_while(ending, &answer).await;
            let Err(SignInFault::Unavailable(why)) = &result else {
                panic!("{ending} {answer:?}: {result:?}");
            };
            // The error for the operator contains nothing of the response or the URL.
            let why = why.to_string();
            assert!(why.starts_with("GitHub ") && why.len() < 80 && !why.contains("127.0.0.1"), "{why}");
        }
    }
    // Redirects were not followed, nothing was granted, and no audit event was written.
    assert!(scene.site.take_requests().iter().all(|request| !request.line.ends_with("/elsewhere")));
    assert_eq!(scene.record(), Vec::<String>::new());
}

#[tokio::test]
async fn a_sign_in_that_github_held_up_goes_on_from_the_same_page() {
    let scene = Scene::start(World::new()).await;
    scene.answers("/user", refusal(503, "Service unavailable"));
    let started = scene.bench.begin().await;
    let result = scene.back(&started, Some(CODE)).await;
    assert!(matches!(result, Err(SignInFault::Unavailable(_))), "{result:?}");
    scene.becomes(World::new());
    scene.back(&started, Some(CODE)).await.unwrap();
}

#[tokio::test]
async fn while_teams_can_not_be_read_nobodys_tier_is_guessed_and_no_token_is_used_up() {
    let mut scene = Scene::start(World::new()).await;
    let (access, refresh) = scene.tokens().await;
    scene.bench.later(300);
    let resource = format!("{ISSUER}/mcp");
    for ending in ["/user/42", "/orgs/acme/memberships/ada", "/orgs/acme/teams/core/memberships/ada"] {
        for answer in [refusal(401, "Bad credentials"), refusal(403, "API rate limit exceeded")] {
            scene.answers(ending, answer);
            let admitted = scene.bench.auth.admit(Some(&access), &resource, scene.bench.now).await;
            assert_eq!(admitted.unwrap_err(), AdmissionError::Unavailable, "{ending}");
            let refused = scene.bench.refresh(&refresh).await.unwrap_err();
            assert_eq!(refused.error, Fault::TemporarilyUnavailable, "{ending}");
        }
    }
    scene.becomes(World::new());
    assert!(scene.bench.is_admitted(&access).await);
    scene.bench.refresh(&refresh).await.unwrap();
}
