//! A sign-in in progress: the authorization request, bound to the browser that made it.
//!
//! The page carries it with an HMAC; the browser has a cookie whose hash is in it. So no other browser can
//! continue it, and no other site can make this browser continue it. It is stateless, except while the user is at
//! GitHub.

use alloy_primitives::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    oauth::request::AuthorizationRequest,
    seal::{Key, Purpose, SealError},
};

/// Time limit of a sign-in.
const SIGN_IN_TTL_SECONDS: i64 = 10 * 60;

/// A sign-in in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    /// Sign-in id; becomes the id of the grant.
    pub id: String,
    /// The authorization request.
    pub request: AuthorizationRequest,
    /// Hash of the browser's cookie.
    browser: String,
}

/// A sign-in with its sealed state and cookie.
#[derive(Debug, Clone)]
pub struct StartedSignIn {
    /// The sign-in.
    pub sign_in: SignIn,
    /// Sealed state, for the page.
    pub state: String,
    /// Value of the browser's cookie.
    pub browser: String,
}

/// Why a sign-in can't be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// Its state is invalid.
    #[error("unknown sign-in; go back to the client and start again")]
    Unknown,
    /// It expired.
    #[error("this sign-in expired after 10 minutes; go back to the client and start again")]
    TooOld,
    /// It belongs to another browser.
    #[error("this sign-in was started in another browser, or cookies are disabled")]
    OtherBrowser,
}

impl SignIn {
    /// Starts a sign-in, reusing the browser's cookie if it has a valid one.
    pub(crate) fn begin(
        key: &Key,
        request: AuthorizationRequest,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<StartedSignIn, getrandom::Error> {
        let cookie = browser
            .filter(|cookie| cookie.len() == 64 && cookie.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let browser = cookie.map_or_else(random, |cookie| Ok(cookie.to_owned()))?;
        let mut id = random()?;
        id.truncate(32);
        let sign_in = Self { id, request, browser: hash(&browser) };
        let state = key.seal(Purpose::SignIn, &sign_in, now);
        Ok(StartedSignIn { sign_in, state, browser })
    }

    /// Opens the state carried by a page, if the browser is the same.
    pub(crate) fn open(
        key: &Key,
        state: &str,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, ResumeError> {
        let sign_in: Self = key.open(Purpose::SignIn, state, Some(SIGN_IN_TTL_SECONDS), now).map_err(
            |error| match error {
                SealError::Forged => ResumeError::Unknown,
                SealError::TooOld => ResumeError::TooOld,
            },
        )?;
        let is_same = browser.is_some_and(|browser| hash(browser) == sign_in.browser);
        if is_same { Ok(sign_in) } else { Err(ResumeError::OtherBrowser) }
    }
}

fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(hex::encode(bytes))
}

fn hash(cookie: &str) -> String {
    hex::encode(Sha256::digest(cookie.as_bytes()))
}
