//! Installations of GitHub Apps: a request that is signed with the app's key gets a token.

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

/// A key that was made for tests. Without the lines that secret scanners look for.
const KEY: &str = include_str!("app_key.b64");

/// Installed apps.
#[derive(Default)]
pub(super) struct Apps {
    /// By installation: the app, and how long its tokens are valid.
    installations: BTreeMap<u64, (u64, Duration)>,
    issued: u64,
}

/// The private key of every app, as the PEM file that GitHub gives out.
pub fn app_key() -> String {
    let kind = "RSA PRIVATE KEY";
    format!("-----BEGIN {kind}-----\n{KEY}-----END {kind}-----\n")
}

impl Apps {
    pub(super) fn install(&mut self, app_id: u64, installation_id: u64, lifetime: Duration) {
        self.installations.insert(installation_id, (app_id, lifetime));
    }

    /// Answers `POST /app/installations/{id}/access_tokens`.
    pub(super) fn respond(&mut self, path: &str, signed: Option<&str>) -> Option<(u16, Value)> {
        let id = path.strip_prefix("/app/installations/")?.strip_suffix("/access_tokens")?;
        let bad = |message: &str| Some((401, json!({ "message": message })));
        let Some(app_id) = signed.and_then(signer) else {
            return bad("A JSON web token could not be decoded");
        };
        let installed = id.parse().ok().and_then(|id: u64| self.installations.get(&id));
        let Some((_, lifetime)) = installed.filter(|(app, _)| *app == app_id) else {
            return Some((404, json!({ "message": "Not Found" })));
        };
        self.issued += 1;
        let expires_at = Timestamp::now() + *lifetime;
        let token = format!("ghs_{}", self.issued);
        Some((
            201,
            json!({ "token": token, "expires_at": expires_at, "permissions": { "contents": "read" } }),
        ))
    }
}

/// The app that signed a JSON Web Token, if it is valid now.
fn signer(token: &str) -> Option<u64> {
    let (message, signature) = token.rsplit_once('.')?;
    let (header, claims) = message.split_once('.')?;
    let decode = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).ok();
    let json = |part: &str| serde_json::from_slice::<Value>(&decode(part)?).ok();
    let der = BASE64_STANDARD.decode(KEY.split_whitespace().collect::<String>()).ok()?;
    let pair = RsaKeyPair::from_der(&der).ok()?;
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public().as_ref().to_vec());
    public.verify(message.as_bytes(), &decode(signature)?).ok()?;
    let (header, claims, now) = (json(header)?, json(claims)?, Timestamp::now().as_second());
    let (from, until) = (claims.get("iat")?.as_i64()?, claims.get("exp")?.as_i64()?);
    let is_rs256 = header.get("alg").is_some_and(|alg| alg == "RS256");
    let is_valid = is_rs256 && from <= now && now < until && until - now <= 600;
    claims.get("iss")?.as_str()?.parse().ok().filter(|_| is_valid)
}
