//! A sign-in under way: what was asked, bound to the browser that asked it.
//!
//! The page carries it, sealed; the browser holds a secret whose hash is in it. So another browser can't go on with it,
//! and a page elsewhere can't make this browser go on. Nothing is kept until it is finished.

use alloy_primitives::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    oauth::request::AuthorizationRequest,
    seal::{Key, Purpose, SealError},
};

/// How many seconds a person may take.
const SIGN_IN_TTL_SECONDS: i64 = 10 * 60;

/// A sign-in under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    /// Its id.
    pub id: String,
    /// What the client asks for.
    pub request: AuthorizationRequest,
    /// The hash of what the browser holds.
    browser: String,
}

/// A sign-in that was just begun.
#[derive(Debug, Clone)]
pub struct StartedSignIn {
    /// What is asked.
    pub sign_in: SignIn,
    /// The same, sealed, for the page.
    pub state: String,
    /// What the browser is to hold.
    pub browser: String,
}

/// Why a sign-in can't go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// It is not one of ours.
    #[error("unknown sign-in; go back to the client and start again")]
    Unknown,
    /// It took too long.
    #[error("this sign-in expired after 10 minutes; go back to the client and start again")]
    TooOld,
    /// It belongs to another browser.
    #[error("this sign-in was started in another browser, or cookies are disabled")]
    OtherBrowser,
}

impl SignIn {
    /// Begins one, for a browser that may hold something from an earlier one.
    pub(crate) fn begin(
        key: &Key,
        request: AuthorizationRequest,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<StartedSignIn, getrandom::Error> {
        let held =
            browser.filter(|held| held.len() == 64 && held.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let browser = held.map_or_else(random, |held| Ok(held.to_owned()))?;
        let mut id = random()?;
        id.truncate(32);
        let sign_in = Self { id, request, browser: hash(&browser) };
        let state = key.seal(Purpose::SignIn, &sign_in, now);
        Ok(StartedSignIn { sign_in, state, browser })
    }

    /// The one that a page carries, if this is the browser that began it.
    pub(crate) fn open(
        key: &Key,
        state: &str,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, ResumeError> {
        let sign_in: Self = key.open(Purpose::SignIn, state, Some(SIGN_IN_TTL_SECONDS), now).map_err(
            |broken| match broken {
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

fn hash(held: &str) -> String {
    hex::encode(Sha256::digest(held.as_bytes()))
}
