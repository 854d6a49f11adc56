//! A GitHub App as the server's own identity: installation tokens, renewed before they expire (ADR 28).
//!
//! Invariants: the private key signs and is never sent; a token is in memory only; concurrent callers share one renewal.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use lyceum_net::{Secret, SingleFlight};
use reqwest::Url;
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls_pki_types::{PrivateKeyDer, pem::PemObject};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::{Error, GitHub, Request, SetupError};

/// A token is renewed this long before it expires: a clone must be able to end with it.
const RENEW_BEFORE: SignedDuration = SignedDuration::from_mins(10);

/// A signed request is valid from a minute ago, because clocks differ, and for less than GitHub's ten minutes.
const BACKDATED_SECONDS: i64 = 60;
const VALID_SECONDS: i64 = 540;

/// Deadline of a renewal.
const DEADLINE: Duration = Duration::from_secs(30);

/// A GitHub App, installed for an account. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    github: GitHub,
    settings: AppSettings,
    key: RsaKeyPair,
    current: Mutex<Option<(Secret, Timestamp)>>,
    renewals: SingleFlight<(), Result<Secret, Error>>,
}

/// Settings of an [`App`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppSettings {
    /// Base URL of the API.
    pub api: Url,
    /// Id of the app.
    pub app_id: u64,
    /// Id of its installation for the account that owns the repositories.
    pub installation_id: u64,
    /// Its private key, as the PEM file that GitHub gives out.
    pub key: Secret,
}

/// Why an app can't be used.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The key can't be read.
    #[error("is not an RSA private key in PEM form; download one from the settings of the GitHub App")]
    Key,
    /// The client can't be created.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// GitHub's response.
#[derive(Deserialize)]
struct Installation {
    token: String,
    expires_at: Timestamp,
}

impl App {
    /// Reads the key. Sends nothing yet.
    pub fn new(settings: AppSettings) -> Result<Self, AppError> {
        let key = key_pair(settings.key.reveal()).ok_or(AppError::Key)?;
        let github = GitHub::new(&settings.api)?;
        let (current, renewals) = (Mutex::default(), SingleFlight::default());
        Ok(Self(Arc::new(Inner { github, settings, key, current, renewals })))
    }

    /// A token of the installation that is valid for some minutes.
    pub async fn token(&self) -> Result<Secret, Error> {
        if let Some(token) = self.current(Timestamp::now()) {
            return Ok(token);
        }
        let app = self.clone();
        let renewal = async move {
            // Another renewal may have ended since.
            match app.current(Timestamp::now()) {
                Some(token) => Ok(token),
                None => app.renew().await,
            }
        };
        self.0.renewals.join((), renewal).await
    }

    /// Forgets the token, because GitHub does not accept it any more.
    pub fn forget(&self) {
        *self.0.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn current(&self, now: Timestamp) -> Option<Secret> {
        let current = self.0.current.lock().unwrap_or_else(PoisonError::into_inner);
        let is_valid = |expires_at: &Timestamp| expires_at.duration_since(now) > RENEW_BEFORE;
        current.as_ref().filter(|(_, expires_at)| is_valid(expires_at)).map(|(token, _)| token.clone())
    }

    async fn renew(&self) -> Result<Secret, Error> {
        let signed = self.signed(Timestamp::now()).ok_or(Error::Invalid("request"))?;
        let path = format!("app/installations/{}/access_tokens", self.0.settings.installation_id);
        let request = Request::post(path, json!({}));
        let response = self.0.github.send(Some(&signed), &request, Instant::now() + DEADLINE).await?;
        let Installation { token, expires_at } = response.json()?;
        let token = Secret::for_header(&token).map_err(|_| Error::Invalid("response"))?;
        *self.0.current.lock().unwrap_or_else(PoisonError::into_inner) = Some((token.clone(), expires_at));
        tracing::debug!(github.app = self.0.settings.app_id, %expires_at, "renewed the token of the GitHub App");
        Ok(token)
    }

    /// A JSON Web Token that proves the identity of the app.
    fn signed(&self, now: Timestamp) -> Option<Secret> {
        let now = now.as_second();
        let claims = json!({
            "iat": now - BACKDATED_SECONDS,
            "exp": now + VALID_SECONDS,
            "iss": self.0.settings.app_id.to_string(),
        });
        let header = json!({ "alg": "RS256", "typ": "JWT" });
        let encode = |part: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(part);
        let message =
            format!("{}.{}", encode(header.to_string().as_bytes()), encode(claims.to_string().as_bytes()));
        let mut signature = vec![0; self.0.key.public().modulus_len()];
        let random = SystemRandom::new();
        self.0.key.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).ok()?;
        Secret::for_header(&format!("{message}.{}", encode(&signature))).ok()
    }
}

fn key_pair(pem: &str) -> Option<RsaKeyPair> {
    match PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()? {
        // What GitHub gives out.
        PrivateKeyDer::Pkcs1(key) => RsaKeyPair::from_der(key.secret_pkcs1_der()).ok(),
        PrivateKeyDer::Pkcs8(key) => RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).ok(),
        _ => None,
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}
