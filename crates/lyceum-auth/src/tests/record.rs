//! Audit events of sign-in: nobody can fill the disk with them.

use lyceum_store::{Db, audit};

use super::{Bench, key};
use crate::{ApiKey, Kind, SignInFault, Token, oauth::client::ClientMetadata};

fn lines(bench: &Bench) -> Vec<audit::AuditRow> {
    let db = Db::open(&bench.folder.path().join("auth.db")).unwrap();
    db.read_blocking(|tx| audit::after(tx, 0, 1000)).unwrap()
}

fn kinds(bench: &Bench) -> Vec<String> {
    lines(bench).into_iter().map(|line| line.kind).collect()
}

#[tokio::test]
async fn s2_saying_no_uses_the_sign_in_up() {
    let bench = Bench::new();
    let started = bench.begin().await;
    let deny = async || bench.auth.deny(&started.state, Some(&started.browser), bench.now).await;
    assert!(deny().await.is_ok());
    for _ in 0..50 {
        assert!(matches!(deny().await, Err(SignInFault::Used)));
    }
    let signed = bench.sign(&started, &key(1));
    let late = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
    assert!(matches!(late, Err(SignInFault::Used)), "{late:?}");
    assert_eq!(kinds(&bench), ["denied"]);
}

#[tokio::test]
async fn s2_trying_without_end_leaves_one_line_for_each_sign_in() {
    let token = Token::random(Kind::Key).unwrap();
    let hash = token.hash().0;
    let bench = Bench::with(|settings| {
        settings.keys.push(ApiKey { name: "ci".to_owned(), hash, tier: lyceum_model::Tier::Member });
    });
    let started = bench.begin().await;
    let browser = Some(started.browser.as_str());
    for _ in 0..50 {
        let tried = bench.auth.sign_in_with_key(&started.state, browser, "lyc_key_wrong", bench.now).await;
        assert!(matches!(tried, Err(SignInFault::NotSigned)), "{tried:?}");
        let mut signed = bench.sign(&started, &key(1));
        signed.signature = "0x".to_owned();
        let tried = bench.auth.verify(&signed, browser, bench.now).await;
        assert!(matches!(tried, Err(SignInFault::NotSigned)), "{tried:?}");
    }
    assert_eq!(kinds(&bench), ["sign_in_refused"]);
    // A valid key still works.
    let right = bench.auth.sign_in_with_key(&started.state, browser, token.reveal(), bench.now).await;
    assert!(right.is_ok(), "{right:?}");
}

#[tokio::test]
async fn s2_a_client_with_a_long_id_is_cut_in_the_record() {
    let mut bench = Bench::new();
    for name in ["a", "b"] {
        let redirect = format!("https://app.example.org/{}{name}", "x".repeat(900));
        let metadata = ClientMetadata { redirect_uris: vec![redirect.clone()], ..ClientMetadata::default() };
        bench.client = bench.auth.register(&metadata, bench.now).unwrap().client_id;
        assert!(bench.client.len() > 1000);
        let query = bench.query("").replace(super::CALLBACK, &redirect);
        let params = crate::oauth::Params::parse(&query).unwrap();
        let started =
            bench.auth.start_authorization(&params, crate::Visitor::default(), bench.now).await.unwrap();
        bench.auth.deny(&started.state, Some(&started.browser), bench.now).await.unwrap();
    }
    let clients: Vec<String> = lines(&bench).into_iter().filter_map(|line| line.client).collect();
    assert!(clients.iter().all(|client| client.chars().count() == 64 + 1 + 8), "{clients:?}");
    assert_ne!(clients[0], clients[1]);
}
