//! Sign-in end to end, over the wire: a client, a browser, a wallet, and a chain that can fail.

mod account;
mod audit;
mod closed;
mod command;
mod dao;
mod doors;
mod flow;
mod gate;
mod headers;
mod hidden;
mod pats;
mod proxies;
mod readers;
mod routes;
mod scopes;
mod sessions;
mod strangers;
mod waap;

use std::{fmt::Write, sync::Arc};

use alloy_primitives::{Address, Signature, eip191_hash_message, hex};
use http::{HeaderValue, header};
use k256::ecdsa::SigningKey;
use lyceum::config::{AuthMode, AuthService, KnowledgeService, Oauth};
use lyceum_auth::{Chain, DEFAULT_ROLES_TTL, Guard, HATS_CONTRACT, Hat, Hats};
use lyceum_knowledge::PublicContent;
use lyceum_model::Tier;
use lyceum_testkit::TestChain;
use serde_json::{Value, json};

use crate::app::{Request, Response, TestApp, get, post};

const CALLBACK: &str = "http://127.0.0.1:4000/callback";
const MEMBER: &str = "0000001e00030005000000000000000000000000000000000000000000000000";
const VIBECODER: &str = "0000001e00030001000000000000000000000000000000000000000000000000";
/// All scopes, as listed in the metadata of the resource.
const EVERYTHING: &str = "knowledge:read mcp:read skills:run sources:refresh";
pub(super) const VERIFIER: &str = "a-verifier-that-is-long-enough-for-the-rules-of-pkce";
/// The S256 code challenge of the verifier.
const CHALLENGE: &str = "dnaPHvIvW7lKCBMM3wFRkq2HMf5rO3N_xQjRi2v3JX8";

/// A server with sign-in, and the chain with the hats.
pub(super) struct Stage {
    pub(super) app: TestApp,
    pub(super) chain: TestChain,
    pub(super) client: String,
}

/// What a client has after a sign-in.
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: String,
    pub(super) scope: String,
}

/// A browser on the sign-in page.
pub(super) struct Visit {
    pub(super) state: String,
    pub(super) cookie: String,
    pub(super) page: Response,
}

impl Stage {
    pub(super) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(super) async fn with(change: impl FnOnce(&mut Oauth)) -> Self {
        Self::unregistered(change).await.registered().await
    }

    pub(super) async fn registered(mut self) -> Self {
        let said = json!({ "client_name": "Test client", "redirect_uris": [CALLBACK] });
        let registered = self.app.send(post("/register", said.to_string())).await;
        assert_eq!(registered.status, 201, "{registered:?}");
        self.client = registered.json()["client_id"].as_str().unwrap().to_owned();
        self
    }

    /// The same without a client.
    pub(super) async fn unregistered(change: impl FnOnce(&mut Oauth)) -> Self {
        Self::of("", change).await
    }

    /// The same with lines of `[server]`.
    pub(super) async fn of(server: &str, change: impl FnOnce(&mut Oauth)) -> Self {
        Self::made(&with_example(server), |_| PublicContent::Summaries, change).await
    }

    /// The same with a client, and with what is public.
    pub(super) async fn showing(public: PublicContent, change: impl FnOnce(&mut Oauth)) -> Self {
        Self::made(&with_example(""), |_| public, change).await.registered().await
    }

    /// A server with these tables, and with what is public of each knowledge base.
    async fn made(
        tables: &str,
        public: impl Fn(&str) -> PublicContent,
        change: impl FnOnce(&mut Oauth),
    ) -> Self {
        let chain = TestChain::start(10).await.unwrap();
        let url = chain.url();
        let app = TestApp::product_with(tables, |config| {
            let mut oauth = Oauth {
                mode: AuthMode::Oauth,
                roles_good_for: DEFAULT_ROLES_TTL,
                waap: None,
                anonymous: true,
                key: None,
                chains: vec![Arc::new(Chain::new(10, &url).unwrap())],
                hats: Some((
                    10,
                    Hats {
                        contract: HATS_CONTRACT,
                        hats: vec![
                            (Hat::parse("30.3.5").unwrap(), Tier::Member),
                            (Hat::parse("30.3.1").unwrap(), Tier::Vibecoder),
                        ],
                    },
                )),
                names: None,
                github: None,
                keys: Vec::new(),
                clients: Vec::new(),
                guard: Guard::default(),
            };
            change(&mut oauth);
            for declared in &mut config.services {
                if let Some(knowledge) = declared.settings::<KnowledgeService>() {
                    let public = public(declared.name.as_str());
                    declared.settings = Arc::new(KnowledgeService { public, ..knowledge.clone() });
                }
            }
            config.auth = AuthService::Gated(Box::new(oauth));
        })
        .await;
        let ready = async || app.send(get("/readyz")).await.status == 200;
        crate::app::within("the knowledge base is read", async { while !ready().await {} }).await;
        Self { app, chain, client: String::new() }
    }

    /// The query string of a valid authorization request.
    pub(super) fn query(&self, more: &str) -> String {
        let client = &self.client;
        format!(
            "/authorize?response_type=code&client_id={client}&redirect_uri={CALLBACK}&code_challenge={CHALLENGE}&code_challenge_method=S256&state=s1{more}"
        )
    }

    /// A browser with the authorization request of a client for all scopes.
    pub(super) async fn visit(&self) -> Visit {
        self.visit_for(EVERYTHING).await
    }

    /// The same for other scopes.
    pub(super) async fn visit_for(&self, scopes: &str) -> Visit {
        let page = self.app.send(get(&self.query(&format!("&scope={}", encoded(scopes))))).await;
        assert_eq!(page.status, 200, "{page:?}");
        let state = page.text().split("name=\"stateId\" value=\"").nth(1).unwrap();
        let state = state.split('"').next().unwrap().to_owned();
        let cookie = page.header("set-cookie").split(';').next().unwrap().to_owned();
        Visit { state, cookie, page }
    }

    /// The message that the wallet signs, and its signature.
    pub(super) async fn sign(&self, visit: &Visit, key: &SigningKey) -> (String, String) {
        let who = json!({ "stateId": visit.state, "address": address(key), "chainId": 10 });
        let answer = self.app.send(with_cookie(post("/siwe/nonce", who.to_string()), &visit.cookie)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        let signature = sign(key, &message);
        (message, signature)
    }

    pub(super) async fn verify(&self, visit: &Visit, signed: &(String, String)) -> Response {
        let (message, signature) = signed;
        let sent = json!({ "message": message, "signature": signature, "stateId": visit.state });
        self.app.send(with_cookie(post("/siwe/verify", sent.to_string()), &visit.cookie)).await
    }

    /// The authorization code after a sign-in with that key.
    pub(super) async fn code(&self, key: &SigningKey, scopes: &str) -> String {
        let visit = self.visit_for(scopes).await;
        let signed = self.sign(&visit, key).await;
        let answer = self.verify(&visit, &signed).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let sent = answer.json()["redirectTo"].as_str().unwrap().to_owned();
        sent.split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned()
    }

    pub(super) async fn token(&self, form: &str) -> Response {
        self.app.send(form_post("/token", form)).await
    }

    pub(super) async fn sign_in(&self, key: &SigningKey) -> Tokens {
        self.sign_in_for(EVERYTHING, key).await
    }

    /// Signs in with a client that requests those scopes.
    pub(super) async fn sign_in_for(&self, scopes: &str, key: &SigningKey) -> Tokens {
        let (code, client) = (self.code(key, scopes).await, &self.client);
        let form =
            format!("grant_type=authorization_code&client_id={client}&code={code}&code_verifier={VERIFIER}");
        tokens(&self.token(&form).await)
    }

    pub(super) async fn refresh(&self, token: &str) -> Response {
        let client = &self.client;
        self.token(&format!("grant_type=refresh_token&client_id={client}&refresh_token={token}")).await
    }
}

/// The tables of the bundled example, after these.
fn with_example(tables: &str) -> String {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/example");
    format!("{tables}\n[[source]]\nname = \"kb\"\npath = {example:?}\n[knowledge]\nsource = \"kb\"")
}

pub(super) fn tokens(answer: &Response) -> Tokens {
    assert_eq!(answer.status, 200, "{answer:?}");
    let body: Value = answer.json();
    let text = |name: &str| body[name].as_str().unwrap().to_owned();
    Tokens { access: text("access_token"), refresh: text("refresh_token"), scope: text("scope") }
}

pub(super) fn key(number: u8) -> SigningKey {
    SigningKey::from_slice(&[number; 32]).unwrap()
}

pub(super) fn address(key: &SigningKey) -> String {
    Address::from_public_key(key.verifying_key()).to_string()
}

pub(super) fn sign(key: &SigningKey, message: &str) -> String {
    let (signature, parity) = key.sign_prehash_recoverable(eip191_hash_message(message).as_slice()).unwrap();
    let signature = Signature::from_signature_and_parity(signature, parity.is_y_odd());
    format!("0x{}", hex::encode(signature.as_bytes()))
}

pub(super) fn form_post(path: &str, form: &str) -> Request {
    let mut request = post(path, form.to_owned());
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    request
}

pub(super) fn with_cookie(mut request: Request, cookie: &str) -> Request {
    request.headers_mut().insert(header::COOKIE, cookie.parse().unwrap());
    request
}

pub(super) fn with_token(mut request: Request, token: &str) -> Request {
    request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
    request
}

/// Percent-encodes a form value.
pub(super) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        let _written = write!(all, "%{byte:02X}");
        all
    })
}
