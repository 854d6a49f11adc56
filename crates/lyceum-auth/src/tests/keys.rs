//! API keys.

use lyceum_model::Tier;

use super::{Bench, ISSUER};
use crate::{ApiKey, Kind, Token, oauth::Fault};

#[tokio::test]
async fn a_key_of_the_operator_opens_what_it_is_for_until_it_is_taken_out() {
    let token = Token::random(Kind::Key).unwrap();
    let api_key = ApiKey { name: "ci".to_owned(), hash: token.hash().0, tier: Tier::Member };
    let bench = Bench::with(|settings| settings.keys.push(api_key));
    let caller = bench.auth.admit(Some(token.reveal()), &format!("{ISSUER}/mcp"), bench.now).await.unwrap();
    assert!(caller.subject().unwrap().starts_with("key:ci#"));
    assert_eq!(caller.tier(), Tier::Member);
    let other = Token::random(Kind::Key).unwrap();
    assert!(!bench.is_admitted(other.reveal()).await);
}

#[tokio::test]
async fn what_was_allowed_with_a_key_ends_with_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("auth.db");
    let key = |hash: [u8; 32]| ApiKey { name: "ci".to_owned(), hash, tier: Tier::Member };
    let first = Token::random(Kind::Key).unwrap();
    let bench = Bench::at(&file, |settings| settings.keys.push(key(first.hash().0)));
    let started = bench.begin().await;
    let sent = bench
        .auth
        .sign_in_with_key(&started.state, Some(&started.browser), first.reveal(), bench.now)
        .await
        .unwrap();
    let code = sent.split("code=").nth(1).unwrap().split('&').next().unwrap();
    let issued = bench.redeem(code).await.unwrap();
    assert!(bench.is_admitted(issued.access.reveal()).await);
    // Another key of the same name.
    let other = Bench::at(&file, |settings| settings.keys.push(key([1; 32])));
    assert!(!other.is_admitted(issued.access.reveal()).await);
    let form = format!(
        "grant_type=refresh_token&client_id={}&refresh_token={}",
        bench.client,
        issued.refresh.reveal()
    );
    assert_eq!(other.exchange(&form).await.unwrap_err().error, Fault::InvalidGrant);
}
