//! Sign-in without HTTP: a client, a user with a key, and no reachable chain.

mod clients;
mod documents;
mod fake_server;
mod github;
mod hats;
mod keys;
mod messages;
mod oracle;
mod pats;
mod record;
mod redirects;
mod server;
mod signing_in;
mod tokens;
mod wallets;

use std::path::Path;

use alloy_primitives::{Address, Signature, eip191_hash_message};
use jiff::{SignedDuration, Timestamp};
use k256::ecdsa::SigningKey;
use lyceum_model::{Right, Rights, Scope, Tier};
use lyceum_store::Db;
use tempfile::TempDir;

use crate::{
    Auth, Chain, Credentials, DEFAULT_ROLES_TTL, Guard, Key, Settings, Signature as Signed, StartedSignIn,
    Visitor,
    oauth::{OauthError, Params, client::ClientMetadata, redeem::IssuedTokens},
};

const ISSUER: &str = "http://127.0.0.1:8787";
const CALLBACK: &str = "http://127.0.0.1:4000/callback";

/// Sign-in on its own database, without a reachable chain.
struct Bench {
    auth: Auth,
    client: String,
    now: Timestamp,
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self::at(&folder.path().join("auth.db"), change);
        Self { folder, ..bench }
    }

    /// Like [`Bench::with`], on a database that outlives it.
    fn at(file: &Path, change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(file).unwrap();
        let mut settings = Settings {
            issuer: ISSUER.to_owned(),
            resources: vec![format!("{ISSUER}/mcp"), format!("{ISSUER}/skills/mcp")],
            key: Key([7; 32]),
            clients: Vec::new(),
            // A closed port.
            chains: vec![Chain::new(1, "http://127.0.0.1:9").unwrap().into()],
            hats: None,
            names: None,
            github: None,
            takes_pats: false,
            roles_good_for: DEFAULT_ROLES_TTL,
            keys: Vec::new(),
            guard: Guard::default(),
            anonymous: true,
            rights: rights(),
        };
        change(&mut settings);
        let auth = Auth::new(db, settings);
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let metadata = ClientMetadata {
            redirect_uris: vec![CALLBACK.to_owned()],
            client_name: Some("Test client".to_owned()),
            ..ClientMetadata::default()
        };
        let client = auth.register(&metadata, now).unwrap().client_id;
        Self { auth, client, now, folder }
    }

    fn later(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// Query of a valid authorization request, with `more` appended.
    fn query(&self, more: &str) -> String {
        let client = &self.client;
        format!(
            "response_type=code&client_id={client}&redirect_uri={CALLBACK}&code_challenge={}&code_challenge_method=S256&state=s1{more}",
            challenge()
        )
    }

    async fn begin(&self) -> StartedSignIn {
        let params =
            Params::parse(&self.query("&scope=mcp:read%20knowledge:read%20skills:run%20sources:refresh"))
                .unwrap();
        self.auth.start_authorization(&params, Visitor::default(), self.now).await.unwrap()
    }

    /// What the sign-in page sends for the account of that key.
    fn sign(&self, started: &StartedSignIn, key: &SigningKey) -> Signed {
        let nonce = self.auth.nonce(self.now).unwrap();
        self.sign_with(started, key, &nonce)
    }

    fn sign_with(&self, started: &StartedSignIn, key: &SigningKey, nonce: &str) -> Signed {
        let account = address(key).to_string();
        let browser = Some(started.browser.as_str());
        let message = self.auth.message(&started.state, browser, (&account, 1), nonce, self.now).unwrap();
        let message = message.to_string();
        Signed { signature: sign(key, &message), message, state: started.state.clone() }
    }

    async fn code(&self) -> String {
        let started = self.begin().await;
        let signed = self.sign(&started, &key(1));
        let sent = self.auth.verify(&signed, Some(&started.browser), self.now).await.unwrap();
        let query = sent.split_once('?').unwrap().1;
        Params::parse(query).unwrap().get("code").unwrap().to_owned()
    }

    async fn exchange(&self, form: &str) -> Result<IssuedTokens, OauthError> {
        let params = Params::parse(form).unwrap();
        self.auth.exchange(&params, Credentials::default(), self.now).await
    }

    async fn redeem(&self, code: &str) -> Result<IssuedTokens, OauthError> {
        let client = &self.client;
        let verifier = verifier();
        self.exchange(&format!("grant_type=authorization_code&client_id={client}&code={code}&redirect_uri={CALLBACK}&code_verifier={verifier}"))
            .await
    }

    async fn refresh(&self, token: &str) -> Result<IssuedTokens, OauthError> {
        let client = &self.client;
        self.exchange(&format!("grant_type=refresh_token&client_id={client}&refresh_token={token}")).await
    }

    async fn is_admitted(&self, token: &str) -> bool {
        self.auth.admit(Some(token), &format!("{ISSUER}/mcp"), self.now).await.is_ok()
    }
}

fn verifier() -> String {
    "v".repeat(43)
}

fn challenge() -> String {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    use sha2::{Digest, Sha256};
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier().as_bytes()))
}

fn key(number: u8) -> SigningKey {
    SigningKey::from_slice(&[number; 32]).unwrap()
}

fn address(key: &SigningKey) -> Address {
    Address::from_public_key(key.verifying_key())
}

fn sign(key: &SigningKey, message: &str) -> String {
    let hash = eip191_hash_message(message);
    let (signature, parity) = key.sign_prehash_recoverable(hash.as_slice()).unwrap();
    let signature = Signature::from_signature_and_parity(signature, parity.is_y_odd());
    format!("0x{}", alloy_primitives::hex::encode(signature.as_bytes()))
}

/// Scopes of a server with all services.
fn rights() -> Rights {
    let right = |scope, tier, allows| Right::new(Scope::from_static(scope), tier, allows);
    Rights::new([
        right("mcp:read", Tier::Public, "Read and search what is open to everyone"),
        right("knowledge:read", Tier::Member, "Read whole documents of the knowledge base"),
        right("sources:refresh", Tier::Vibecoder, "Bring in the newest state of the sources"),
        right("skills:run", Tier::Vibecoder, "Run scripts of skills on the server"),
    ])
}
