//! The authorization server, with valid and invalid requests.

use std::sync::Arc;

use futures::future::join_all;
use lyceum_model::{Scope, Tier};

use super::{Bench, CALLBACK, ISSUER, verifier};
use crate::{
    AdmissionError, Credentials, Visitor,
    oauth::{
        Fault, Params,
        client::ClientMetadata,
        request::{AuthorizationError, RedirectedError},
    },
};

/// Outcome of an authorization request: accepted, shown, or redirected to the client.
pub(super) async fn ask(bench: &Bench, query: &str) -> Result<(), (bool, Fault)> {
    let params = Params::parse(query).unwrap();
    match bench.auth.start_authorization(&params, Visitor::default(), bench.now).await {
        Ok(_) => Ok(()),
        Err(AuthorizationError::Shown(error)) => Err((false, error.error)),
        Err(AuthorizationError::Sent(RedirectedError { error, .. })) => Err((true, error.error)),
    }
}

#[tokio::test]
async fn a_request_is_refused_where_its_redirect_is_not_known_and_sent_back_where_it_is() {
    let bench = Bench::new();
    let good = bench.query("");
    let without = |name: &str| {
        good.split('&').filter(|part| !part.starts_with(&format!("{name}="))).collect::<Vec<_>>().join("&")
    };
    let with = |name: &str, value: &str| format!("{}&{name}={value}", without(name));
    let (shown, sent) = (false, true);
    let table = [
        (with("client_id", "nobody"), shown, Fault::InvalidClient),
        (without("client_id"), shown, Fault::InvalidRequest),
        (with("redirect_uri", "https://evil.com/"), shown, Fault::InvalidRequest),
        (with("redirect_uri", "http://127.0.0.1:4000/other"), shown, Fault::InvalidRequest),
        (with("state", &"s".repeat(8192)), shown, Fault::InvalidRequest),
        (without("code_challenge"), sent, Fault::InvalidRequest),
        (without("code_challenge_method"), sent, Fault::InvalidRequest),
        (with("code_challenge_method", "plain"), sent, Fault::InvalidRequest),
        (with("code_challenge_method", "s256"), sent, Fault::InvalidRequest),
        (with("code_challenge", "short"), sent, Fault::InvalidRequest),
        (with("code_challenge", &"!".repeat(43)), sent, Fault::InvalidRequest),
        (without("response_type"), sent, Fault::InvalidRequest),
        (with("response_type", "token"), sent, Fault::UnsupportedResponseType),
        (with("response_type", "id_token"), sent, Fault::UnsupportedResponseType),
        (with("response_type", "code%20token"), sent, Fault::UnsupportedResponseType),
        (format!("{good}&state=s2"), sent, Fault::InvalidRequest),
        (format!("{good}&scope=mcp:read&scope=mcp:read"), sent, Fault::InvalidRequest),
        (format!("{good}&scope=mcp:read%20everything"), sent, Fault::InvalidScope),
        (format!("{good}&scope=%22%22"), sent, Fault::InvalidScope),
        (format!("{good}&resource=https://evil.com/mcp"), sent, Fault::InvalidTarget),
        (format!("{good}&resource={ISSUER}/mcp%23x"), sent, Fault::InvalidTarget),
        (format!("{good}&resource=/mcp"), sent, Fault::InvalidTarget),
        (format!("{good}&resource={ISSUER}/mcp&resource={ISSUER}/mcp"), sent, Fault::InvalidTarget),
        (format!("{good}&request=x"), sent, Fault::RequestNotSupported),
        (format!("{good}&request_uri=x"), sent, Fault::RequestUriNotSupported),
    ];
    for (query, is_sent, fault) in table {
        assert_eq!(ask(&bench, &query).await, Err((is_sent, fault)), "{query}");
    }
    for more in
        ["", "&resource=http://127.0.0.1:8787/skills/mcp", "&scope=mcp:read%20offline_access", "&scope="]
    {
        assert_eq!(ask(&bench, &format!("{good}{more}")).await, Ok(()), "{more}");
    }
    for more in ["", "&scope=", "&scope=offline_access"] {
        let params = Params::parse(&format!("{good}{more}")).unwrap();
        let started = bench.auth.start_authorization(&params, Visitor::default(), bench.now).await.unwrap();
        assert_eq!(started.sign_in.request.scopes.to_string(), "mcp:read", "{more}");
    }
    let other_port = with("redirect_uri", "http://127.0.0.1:50000/callback");
    assert_eq!(ask(&bench, &other_port).await, Ok(()));
}

#[tokio::test]
async fn a_refusal_that_is_sent_back_says_who_refuses_and_carries_the_state_as_it_was() {
    let bench = Bench::new();
    let query =
        bench.query("").replace("state=s1", "state=%F0%9F%A6%89%20%26%3D%2B").replace("S256", "plain");
    let Err(AuthorizationError::Sent(sent)) =
        bench.auth.start_authorization(&Params::parse(&query).unwrap(), Visitor::default(), bench.now).await
    else {
        panic!("the error was not redirected");
    };
    let address = sent.address(ISSUER);
    let params = Params::parse(address.split_once('?').unwrap().1).unwrap();
    assert_eq!(params.get("state"), Some("🦉 &=+"));
    assert_eq!(params.get("iss"), Some(ISSUER));
    assert_eq!(params.get("error"), Some("invalid_request"));
    assert_eq!(address.matches("iss=").count(), 1);
}

#[tokio::test]
async fn a_code_gives_tokens_that_open_the_resource_they_are_for() {
    let bench = Bench::new();
    let issued = bench.redeem(&bench.code().await).await.unwrap();
    assert_eq!((issued.expires_in, issued.scopes.to_string().as_str()), (3600, "mcp:read"));
    let access = issued.access.reveal();
    let caller = bench.auth.admit(Some(access), &format!("{ISSUER}/mcp"), bench.now).await.unwrap();
    assert_eq!(caller.subject(), Some("0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"));
    assert_eq!(caller.tier(), Tier::Public);
    assert!(caller.has(&Scope::from_static("mcp:read")));
    for resource in ["/skills/mcp", "/mcp-other", "/mcp/", ""] {
        let refused = bench.auth.admit(Some(access), &format!("{ISSUER}{resource}"), bench.now).await;
        assert_eq!(refused.unwrap_err(), AdmissionError::BadToken, "{resource}");
    }
}

#[tokio::test]
async fn of_fifty_exchanges_of_one_code_one_counts_and_the_grant_ends_with_the_second() {
    let bench = Arc::new(Bench::new());
    let code = bench.code().await;
    let all = join_all((0..50).map(|_| bench.redeem(&code))).await;
    let good: Vec<_> = all.iter().filter_map(|one| one.as_ref().ok()).collect();
    assert_eq!(good.len(), 1);
    assert!(all.iter().filter_map(|one| one.as_ref().err()).all(|error| error.error == Fault::InvalidGrant));
    assert!(!bench.is_admitted(good[0].access.reveal()).await);
    assert!(bench.refresh(good[0].refresh.reveal()).await.is_err());
}

#[tokio::test]
async fn a_mistake_at_the_exchange_leaves_the_code_good() {
    let bench = Bench::new();
    let code = bench.code().await;
    let (client, verifier) = (&bench.client, verifier());
    let metadata = ClientMetadata { redirect_uris: vec![CALLBACK.to_owned()], ..ClientMetadata::default() };
    let other = bench.auth.register(&metadata, bench.now).unwrap().client_id;
    let wrong = "w".repeat(43);
    let table = [
        (format!("grant_type=authorization_code&client_id={client}&code={code}"), Fault::InvalidRequest),
        (
            format!("grant_type=authorization_code&client_id={client}&code={code}&code_verifier={wrong}"),
            Fault::InvalidGrant,
        ),
        (
            format!("grant_type=authorization_code&client_id={client}&code={code}&code_verifier=short"),
            Fault::InvalidGrant,
        ),
        (
            format!("grant_type=authorization_code&client_id={other}&code={code}&code_verifier={verifier}"),
            Fault::InvalidGrant,
        ),
        (
            format!(
                "grant_type=authorization_code&client_id={client}&code={code}&code_verifier={verifier}&redirect_uri=http://127.0.0.1:4001/callback"
            ),
            Fault::InvalidGrant,
        ),
        (
            format!(
                "grant_type=authorization_code&client_id={client}&code={code}&code_verifier={verifier}&resource={ISSUER}/skills/mcp"
            ),
            Fault::InvalidTarget,
        ),
        (
            format!(
                "grant_type=authorization_code&client_id={client}&code={code}&code={code}&code_verifier={verifier}"
            ),
            Fault::InvalidRequest,
        ),
        (
            format!("grant_type=authorization_code&client_id=nobody&code={code}&code_verifier={verifier}"),
            Fault::InvalidClient,
        ),
        (format!("grant_type=authorization_code&code={code}&code_verifier={verifier}"), Fault::InvalidClient),
        (
            format!(
                "grant_type=authorization_code&client_id={client}&client_secret=x&code={code}&code_verifier={verifier}"
            ),
            Fault::InvalidClient,
        ),
        (
            format!("grant_type=password&client_id={client}&username=a&password=b"),
            Fault::UnsupportedGrantType,
        ),
        (format!("grant_type=refresh_token&client_id={client}&refresh_token={code}"), Fault::InvalidGrant),
        (format!("client_id={client}&code={code}"), Fault::InvalidRequest),
        (String::new(), Fault::InvalidRequest),
    ];
    for (form, fault) in table {
        assert_eq!(bench.exchange(&form).await.unwrap_err().error, fault, "{form}");
    }
    bench.redeem(&code).await.unwrap();
}

#[tokio::test]
async fn codes_tokens_and_grants_end_in_their_time() {
    let mut bench = Bench::new();
    let code = bench.code().await;
    bench.later(61);
    assert_eq!(bench.redeem(&code).await.unwrap_err().error, Fault::InvalidGrant);

    let issued = bench.redeem(&bench.code().await).await.unwrap();
    bench.later(3599);
    assert!(bench.is_admitted(issued.access.reveal()).await);
    bench.later(2);
    assert!(!bench.is_admitted(issued.access.reveal()).await);
    bench.later(30 * 24 * 3600 - 3602);
    let issued = bench.refresh(issued.refresh.reveal()).await.unwrap();
    assert_eq!(issued.expires_in, 1);
    bench.later(2);
    assert_eq!(bench.refresh(issued.refresh.reveal()).await.unwrap_err().error, Fault::InvalidGrant);
}

#[tokio::test]
async fn a_refresh_token_is_good_once_and_for_a_moment_again_for_who_lost_the_answer() {
    let mut bench = Bench::new();
    let first = bench.redeem(&bench.code().await).await.unwrap();
    let second = bench.refresh(first.refresh.reveal()).await.unwrap();
    bench.later(9);
    let again = bench.refresh(first.refresh.reveal()).await.unwrap();
    assert_eq!(
        (again.access.reveal(), again.refresh.reveal()),
        (second.access.reveal(), second.refresh.reveal())
    );
    assert_eq!(again.expires_in, 3591);
    let third = bench.refresh(second.refresh.reveal()).await.unwrap();
    assert!(bench.is_admitted(third.access.reveal()).await);
    // Its successor was used: the first token was stolen, however soon it is sent.
    assert_eq!(bench.refresh(first.refresh.reveal()).await.unwrap_err().error, Fault::InvalidGrant);
    assert!(!bench.is_admitted(third.access.reveal()).await);
    assert_eq!(bench.refresh(third.refresh.reveal()).await.unwrap_err().error, Fault::InvalidGrant);
}

#[tokio::test]
async fn a_refresh_token_that_comes_back_late_ends_the_grant() {
    let mut bench = Bench::new();
    let first = bench.redeem(&bench.code().await).await.unwrap();
    let second = bench.refresh(first.refresh.reveal()).await.unwrap();
    bench.later(11);
    assert_eq!(bench.refresh(first.refresh.reveal()).await.unwrap_err().error, Fault::InvalidGrant);
    assert!(!bench.is_admitted(second.access.reveal()).await);
    assert!(bench.refresh(second.refresh.reveal()).await.is_err());
}

#[tokio::test]
async fn twenty_refreshes_at_once_come_to_one_answer() {
    let bench = Arc::new(Bench::new());
    let first = bench.redeem(&bench.code().await).await.unwrap();
    let all = join_all((0..20).map(|_| bench.refresh(first.refresh.reveal()))).await;
    let mut tokens: Vec<_> = all.into_iter().map(|one| one.unwrap().refresh.reveal().to_owned()).collect();
    tokens.dedup();
    assert_eq!(tokens.len(), 1);
}

#[tokio::test]
async fn a_refresh_that_asks_for_more_or_comes_from_elsewhere_changes_nothing() {
    let bench = Bench::new();
    let first = bench.redeem(&bench.code().await).await.unwrap();
    let (client, token) = (&bench.client, first.refresh.reveal());
    let metadata = ClientMetadata { redirect_uris: vec![CALLBACK.to_owned()], ..ClientMetadata::default() };
    let other = bench.auth.register(&metadata, bench.now).unwrap().client_id;
    let form = |client: &str, more: &str| {
        format!("grant_type=refresh_token&client_id={client}&refresh_token={token}{more}")
    };
    for (form, fault) in [
        (form(client, "&scope=knowledge:read"), Fault::InvalidScope),
        (form(client, "&scope=nothing"), Fault::InvalidScope),
        (form(client, &format!("&resource={ISSUER}/skills/mcp")), Fault::InvalidTarget),
        (form(&other, ""), Fault::InvalidGrant),
    ] {
        assert_eq!(bench.exchange(&form).await.unwrap_err().error, fault, "{form}");
    }
    bench.exchange(&form(client, "&scope=mcp:read")).await.unwrap();
}

#[tokio::test]
async fn a_token_that_is_taken_back_is_gone_and_no_other_client_can() {
    let bench = Bench::new();
    let revoke = async |client: &str, token: &str| {
        let params = Params::parse(&format!("client_id={client}&token={token}")).unwrap();
        bench.auth.revoke(&params, Credentials::default(), bench.now).await
    };
    let metadata = ClientMetadata { redirect_uris: vec![CALLBACK.to_owned()], ..ClientMetadata::default() };
    let other = bench.auth.register(&metadata, bench.now).unwrap().client_id;
    let issued = bench.redeem(&bench.code().await).await.unwrap();
    let (access, refresh) = (issued.access.reveal(), issued.refresh.reveal());
    assert!(bench.is_admitted(access).await);
    for token in ["unknown", access, refresh] {
        revoke(&other, token).await.unwrap();
    }
    assert!(bench.is_admitted(access).await);
    revoke(&bench.client, access).await.unwrap();
    assert!(!bench.is_admitted(access).await);
    let issued = bench.refresh(refresh).await.unwrap();
    revoke(&bench.client, issued.refresh.reveal()).await.unwrap();
    assert!(!bench.is_admitted(issued.access.reveal()).await);
    assert!(bench.refresh(issued.refresh.reveal()).await.is_err());
    assert_eq!(revoke("nobody", access).await.unwrap_err().error, Fault::InvalidClient);
}

#[tokio::test]
async fn what_is_no_token_is_refused_and_no_token_is_for_the_operator_to_decide() {
    let bench = Bench::new();
    let refresh = bench.redeem(&bench.code().await).await.unwrap().refresh;
    for token in ["", "ghp_x", "eyJhbGciOiJub25lIn0.e30.", "lyc_at_00", refresh.reveal()] {
        let refused = bench.auth.admit(Some(token), &format!("{ISSUER}/mcp"), bench.now).await;
        assert_eq!(refused.unwrap_err(), AdmissionError::BadToken, "{token}");
    }
    assert_eq!(bench.auth.admit(None, "", bench.now).await.unwrap().tier(), Tier::Public);
    let closed = Bench::with(|settings| settings.anonymous = false);
    assert_eq!(closed.auth.admit(None, "", closed.now).await.unwrap_err(), AdmissionError::NoToken);
}
