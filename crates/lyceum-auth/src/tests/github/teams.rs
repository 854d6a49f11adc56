//! Team membership and tiers.

use lyceum_model::Tier;

use super::{Scene, World, settings};
use crate::{GitHub, tests::ISSUER};

impl Scene {
    async fn tier(&self, access: &str) -> Tier {
        let resource = format!("{ISSUER}/mcp");
        self.bench.auth.admit(Some(access), &resource, self.bench.now).await.unwrap().tier()
    }
}

#[tokio::test]
async fn who_is_in_a_team_has_its_tier_and_who_was_only_asked_has_not() {
    let (active, pending) = (Some("active"), Some("pending"));
    let table = [
        (None, None, Tier::Public),
        (pending, None, Tier::Public),
        (active, None, Tier::Member),
        (active, pending, Tier::Member),
        (active, active, Tier::Vibecoder),
        (None, active, Tier::Vibecoder),
        (Some("unheard-of"), Some(""), Tier::Public),
    ];
    for (organisation, team, tier) in table {
        let scene = Scene::start(World { organisation, team, ..World::new() }).await;
        let (access, _) = scene.tokens().await;
        assert_eq!(scene.tier(&access).await, tier, "{organisation:?} {team:?}");
    }
}

#[tokio::test]
async fn who_leaves_a_team_loses_its_tier_within_five_minutes() {
    let mut scene = Scene::start(World::new()).await;
    let (access, _) = scene.tokens().await;
    scene.becomes(World { organisation: None, ..World::new() });
    scene.bench.later(299);
    assert_eq!(scene.tier(&access).await, Tier::Member);
    scene.bench.later(1);
    assert_eq!(scene.tier(&access).await, Tier::Public);
}

#[tokio::test]
async fn at_a_refresh_teams_are_read_again_and_the_person_need_not_be_there() {
    let scene = Scene::start(World::new()).await;
    let (_, refresh) = scene.tokens().await;
    scene.site.take_requests();
    scene.becomes(World { organisation: None, ..World::new() });
    let issued = scene.bench.refresh(&refresh).await.unwrap();
    assert_eq!(issued.scopes.to_string(), "mcp:read");
    assert_eq!(scene.tier(issued.access.reveal()).await, Tier::Public);
    let requests: Vec<_> = scene.site.take_requests().into_iter().map(|request| request.line).collect();
    assert_eq!(
        requests,
        [
            "GET /api/v3/user/42",
            "GET /api/v3/orgs/acme/memberships/ada",
            "GET /api/v3/orgs/acme/teams/core/memberships/ada",
        ]
    );
}

#[tokio::test]
async fn a_new_name_changes_nothing_and_the_old_name_gives_nothing_to_whoever_takes_it() {
    let mut scene = Scene::start(World::new()).await;
    let (access, _) = scene.tokens().await;
    scene.becomes(World { login: "countess", ..World::new() });
    scene.bench.later(300);
    scene.site.take_requests();
    assert_eq!(scene.tier(&access).await, Tier::Member);
    let requests = scene.site.take_requests();
    assert!(requests.iter().all(|request| !request.line.ends_with("/ada")), "{requests:?}");
    assert!(requests.iter().any(|request| request.line.ends_with("/countess")), "{requests:?}");
}

#[tokio::test]
async fn who_left_github_is_in_no_team() {
    let mut scene = Scene::start(World::new()).await;
    let (access, _) = scene.tokens().await;
    scene.answers("/user/42", super::refusal(404, "Not Found"));
    scene.bench.later(300);
    assert_eq!(scene.tier(&access).await, Tier::Public);
}

#[tokio::test]
async fn a_tier_that_is_reached_is_not_asked_for_again() {
    let scene = Scene::start(World { team: Some("active"), ..World::new() }).await;
    let mut settings = settings(&scene.site.url, Some(super::OPERATORS_TOKEN));
    settings.tiers.reverse();
    let github = GitHub::new(settings).unwrap();
    assert_eq!(github.tier(42).await, Ok(Tier::Vibecoder));
    let requests: Vec<_> = scene.site.take_requests().into_iter().map(|request| request.line).collect();
    assert_eq!(requests, ["GET /api/v3/user/42", "GET /api/v3/orgs/acme/teams/core/memberships/ada"]);
}

#[tokio::test]
async fn where_no_team_counts_nobody_is_asked() {
    let scene = Scene::start(World::new()).await;
    let mut settings = settings(&scene.site.url, None);
    settings.tiers.clear();
    assert_eq!(GitHub::new(settings).unwrap().tier(42).await, Ok(Tier::Public));
    assert!(scene.site.take_requests().is_empty());
}

#[tokio::test]
async fn without_a_token_of_the_operator_teams_are_asked_for_without_one() {
    let scene = Scene::start(World::new()).await;
    let github = GitHub::new(settings(&scene.site.url, None)).unwrap();
    github.tier(42).await.unwrap_err();
    let requests = scene.site.take_requests();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].headers.contains_key("authorization"), "{requests:?}");
}
