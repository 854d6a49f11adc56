//! Client registration, display names and client authentication.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{Bench, CALLBACK, server::ask};
use crate::{
    Credentials,
    oauth::{
        Fault, Params,
        client::{self, ClientMetadata},
    },
};

#[tokio::test]
async fn a_client_with_a_secret_proves_itself_in_its_own_way_only() {
    let bench = Bench::new();
    let metadata = ClientMetadata {
        redirect_uris: vec![CALLBACK.to_owned()],
        token_endpoint_auth_method: Some("client_secret_basic".to_owned()),
        ..ClientMetadata::default()
    };
    let client = bench.auth.register(&metadata, bench.now).unwrap();
    let (id, secret) = (client.client_id, client.client_secret.unwrap());
    let check = async |basic: Option<String>, form: &str| {
        let params = Params::parse(&format!("grant_type=refresh_token&refresh_token=x{form}")).unwrap();
        let basic = basic.map(|basic| STANDARD.encode(basic));
        let credentials = Credentials { basic: basic.as_deref() };
        bench.auth.exchange(&params, credentials, bench.now).await.unwrap_err().error
    };
    // An error about the refresh token means that client authentication succeeded.
    assert_eq!(check(Some(format!("{id}:{secret}")), "").await, Fault::InvalidGrant);
    assert_eq!(check(Some(format!("{id}:wrong")), "").await, Fault::InvalidClient);
    assert_eq!(check(Some(id.clone()), "").await, Fault::InvalidClient);
    assert_eq!(check(None, &format!("&client_id={id}")).await, Fault::InvalidClient);
    assert_eq!(check(None, &format!("&client_id={id}&client_secret={secret}")).await, Fault::InvalidClient);
    assert_eq!(
        check(Some(format!("{id}:{secret}")), &format!("&client_secret={secret}")).await,
        Fault::InvalidClient
    );
    assert_eq!(check(Some(format!("{id}:{secret}")), "&client_id=other").await, Fault::InvalidClient);
}

#[tokio::test]
async fn what_can_not_be_registered_is_refused() {
    let bench = Bench::new();
    let good = || ClientMetadata { redirect_uris: vec![CALLBACK.to_owned()], ..ClientMetadata::default() };
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    let table = [
        (ClientMetadata::default(), Fault::InvalidRedirectUri),
        (
            ClientMetadata { redirect_uris: vec![CALLBACK.to_owned(); 11], ..good() },
            Fault::InvalidRedirectUri,
        ),
        (
            ClientMetadata { redirect_uris: vec!["javascript:alert(1)".to_owned()], ..good() },
            Fault::InvalidRedirectUri,
        ),
        (
            ClientMetadata { redirect_uris: vec!["http://app.example.org/".to_owned()], ..good() },
            Fault::InvalidRedirectUri,
        ),
        (ClientMetadata { grant_types: texts(&["implicit"]), ..good() }, Fault::InvalidClientMetadata),
        (ClientMetadata { response_types: texts(&["token"]), ..good() }, Fault::InvalidClientMetadata),
        (
            ClientMetadata { token_endpoint_auth_method: Some("private_key_jwt".to_owned()), ..good() },
            Fault::InvalidClientMetadata,
        ),
        (ClientMetadata { jwks: Some(serde_json::json!({})), ..good() }, Fault::InvalidClientMetadata),
        (
            ClientMetadata {
                redirect_uris: vec![format!("https://example.org/{}", "a".repeat(1000)); 10],
                ..good()
            },
            Fault::InvalidClientMetadata,
        ),
    ];
    for (metadata, fault) in table {
        assert_eq!(bench.auth.register(&metadata, bench.now).unwrap_err().error, fault, "{metadata:?}");
    }
}

#[tokio::test]
async fn a_name_is_shown_without_what_could_deceive() {
    let bench = Bench::new();
    let named = |name: &str| {
        let metadata = ClientMetadata {
            redirect_uris: vec![CALLBACK.to_owned()],
            client_name: Some(name.to_owned()),
            ..ClientMetadata::default()
        };
        bench.auth.register(&metadata, bench.now).unwrap().client_name
    };
    assert_eq!(named("<script>alert(1)</script>").as_deref(), Some("<script>alert(1)</script>"));
    assert_eq!(named("Good\u{202e}diputs\n\u{0}").as_deref(), Some("Gooddiputs"));
    assert_eq!(named(&"n".repeat(10_000)).map(|name| name.len()), Some(80));
    assert_eq!(named(" \u{200b} "), None);
}

#[tokio::test]
async fn s17_no_letter_of_a_name_goes_unseen() {
    let unseen = "\u{61c}\u{ad}\u{2028}\u{2029}\u{e0000}\u{e0041}\u{e0fff}\u{180e}\u{fff9}\u{2066}\u{3164}\u{115f}\u{34f}";
    for letter in unseen.chars() {
        let name = client::shown_name(&format!("a{letter}b"));
        assert_eq!(name.as_deref(), Some("ab"), "{}", letter.escape_unicode());
    }
    assert_eq!(client::shown_name("Größe 木 ٣").as_deref(), Some("Größe 木 ٣"));
}

#[tokio::test]
async fn a_client_that_another_deployment_registered_is_not_known() {
    let bench = Bench::new();
    let other = Bench::with(|settings| settings.key = crate::Key([9; 32]));
    let query = bench.query("").replace(&bench.client, &other.client);
    assert_eq!(ask(&bench, &query).await, Err((false, Fault::InvalidClient)));
}
