//! A GitHub App against a fake GitHub that checks its signatures, and a Git server that wants its tokens.

use std::time::Duration;

use futures::future::join_all;
use lyceum_net::Secret;
use lyceum_testkit::{GitServer, TestGitHub, app_key};
use reqwest::Url;

use super::Machine;
use crate::{
    Error, Repository, Settings,
    github::{self, App, AppError, AppSettings},
};

const HOUR: Duration = Duration::from_hours(1);

fn app(github: &TestGitHub, app_id: u64, installation_id: u64) -> App {
    let api = Url::parse(&github.url()).unwrap();
    let key = Secret::for_signature(&app_key()).unwrap();
    App::new(AppSettings { api, app_id, installation_id, key }).unwrap()
}

#[tokio::test]
async fn a_thousand_callers_share_one_token_and_it_is_renewed_before_it_expires() {
    let github = TestGitHub::start().await.unwrap();
    github.install_app(7, 42, HOUR);
    let one = app(&github, 7, 42);
    for token in join_all((0..1_000).map(|_| one.token())).await {
        assert_eq!(token.unwrap().reveal(), "ghs_1");
    }
    assert_eq!(github.requests(), ["/app/installations/42/access_tokens"]);
    // What expires in less than ten minutes is not used for a clone.
    github.install_app(7, 43, Duration::from_mins(9));
    let short = app(&github, 7, 43);
    assert_eq!(short.token().await.unwrap().reveal(), "ghs_2");
    assert_eq!(short.token().await.unwrap().reveal(), "ghs_3");
    one.forget();
    assert_eq!(one.token().await.unwrap().reveal(), "ghs_4");
}

#[tokio::test]
async fn what_is_wrong_with_an_app_is_said() {
    let github = TestGitHub::start().await.unwrap();
    github.install_app(7, 42, HOUR);
    assert_eq!(app(&github, 7, 1).token().await.unwrap_err(), github::Error::NotFound);
    assert_eq!(app(&github, 8, 42).token().await.unwrap_err(), github::Error::NotFound);
    let api = Url::parse(&github.url()).unwrap();
    for text in ["no key".to_owned(), app_key().replace("MII", "MIJ"), app_key().replace("RSA", "EC")] {
        let key = Secret::for_signature(&text).unwrap();
        let refused = App::new(AppSettings { api: api.clone(), app_id: 7, installation_id: 42, key });
        assert!(matches!(refused, Err(AppError::Key)), "{refused:?}");
    }
    assert!(!format!("{:?}", app(&github, 7, 42)).contains("MII"));
}

#[tokio::test]
async fn a_repository_is_cloned_with_a_token_of_the_app_and_with_a_new_one_if_that_is_refused() {
    let github = TestGitHub::start().await.unwrap();
    github.install_app(7, 42, HOUR);
    let server = GitServer::start().await.unwrap();
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "one").unwrap();
    kb.commit().unwrap();
    server.require_token("ghs_1");
    let machine = Machine::new();
    let settings = machine.settings(&server.url("kb.git"));
    let repository = Repository::new(Settings { app: Some(app(&github, 7, 42)), ..settings }).unwrap();
    repository.refresh().await.unwrap();
    repository.refresh().await.unwrap();
    assert_eq!(github.requests().len(), 1, "the token is used again");
    // Revoked before it expired.
    server.require_token("ghs_2");
    assert!(matches!(repository.refresh().await.unwrap_err(), Error::Git { .. }));
    repository.refresh().await.unwrap();
    assert_eq!(github.requests().len(), 2);
    // Without GitHub, the error says what to check.
    github.answer_with(Some(404));
    server.require_token("ghs_3");
    repository.refresh().await.unwrap_err();
    let error = repository.refresh().await.unwrap_err();
    assert!(error.to_string().contains("check app_id, installation_id and the key"), "{error}");
    assert!(repository.local().unwrap().is_some(), "what is there stays");
}
