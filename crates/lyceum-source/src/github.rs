//! Client of the GitHub REST API: one request core with authentication, redirects, retries and rate limits.
//!
//! Invariants: a token is sent to the host of the API only, and a redirect elsewhere is refused; every request has a
//! deadline and every response a size limit; while a token is rate-limited, nothing is sent with it. Tokens are never
//! stored: what is remembered about one is keyed by a hash with a random key of this process.

mod app;
mod contents;
mod error;
mod git_data;
mod identity;
mod pull_requests;
mod rate_limit;
mod repo_name;
mod request;

use std::{sync::Arc, time::Duration};

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use lyceum_net::{Backoff, ClientError, ClientOptions, Secret, category, causes, read_body, with_jitter};
use quick_cache::sync::Cache;
use reqwest::{
    Client, Method, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, ETAG, HeaderMap, IF_NONE_MATCH, LOCATION},
};
use sha2::Sha256;
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep, timeout_at},
};

pub use app::{App, AppError, AppSettings};
pub use contents::{Contents, EntryKind, Fetched, File, MAX_FILE_BYTES, blob_id};
pub use error::Error;
pub use git_data::{Commit, Created, NewCommit, Remote};
pub use identity::Identity;
pub use pull_requests::{NewPullRequest, PullRequest, PullRequestState};
pub use repo_name::RepoName;
pub use request::{Request, Response};

/// The version of the API.
const API_VERSION: &str = "2022-11-28";

/// Maximum number of requests at a time. GitHub allows 100 for one user.
const MAX_CONCURRENT: usize = 64;

/// Maximum number of attempts of one request.
const MAX_ATTEMPTS: u32 = 3;

/// Timeout of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum number of redirects: a repository that was renamed several times.
const MAX_REDIRECTS: usize = 5;

/// Delay between attempts.
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(200), max: Duration::from_secs(2) };

/// Maximum rate limit delay to wait for; beyond it, the caller is told to retry later.
const MAX_RATE_LIMIT_WAIT: Duration = Duration::from_secs(5);

/// Maximum number of tokens whose rate limits are remembered.
const MAX_PAUSED_TOKENS: usize = 10_000;

/// A client of the GitHub API. Cheap to clone.
#[derive(Clone)]
pub struct GitHub(Arc<Inner>);

struct Inner {
    api: Url,
    client: Client,
    permits: Semaphore,
    /// Keys the hashes of tokens; random, so that they mean nothing outside this process.
    key: [u8; 32],
    /// Rate-limited tokens, and until when.
    paused: Cache<TokenHash, Instant>,
}

/// A keyed hash of a token, valid in this process only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

/// Why a client can't be created.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The HTTP client could not be built.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    Random(#[from] getrandom::Error),
}

impl GitHub {
    /// Creates a client for the API at that base URL: `https://api.github.com`, or `https://HOST/api/v3` of a GitHub
    /// Enterprise server. Sends nothing yet.
    pub fn new(api: &Url) -> Result<Self, SetupError> {
        let mut api = api.clone();
        if !api.path().ends_with('/') {
            api.set_path(&format!("{}/", api.path()));
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self(Arc::new(Inner {
            client: lyceum_net::client(&api, ClientOptions::default())?,
            api,
            permits: Semaphore::new(MAX_CONCURRENT),
            key,
            paused: Cache::new(MAX_PAUSED_TOKENS),
        })))
    }

    /// The hash of a token, for caches that must not mix callers.
    pub fn token_hash(&self, token: Option<&Secret>) -> TokenHash {
        // A key of 32 bytes is always accepted.
        let mac = Hmac::<Sha256>::new_from_slice(&self.0.key).ok().map(|mut mac| {
            mac.update(token.map(|token| token.reveal().as_bytes()).unwrap_or_default());
            mac.finalize().into_bytes().into()
        });
        TokenHash(mac.unwrap_or_default())
    }

    /// Sends a request: follows redirects on the same host, and retries what may be temporary before the deadline.
    /// `POST` is repeated only if it did not reach GitHub.
    pub async fn send(
        &self,
        token: Option<&Secret>,
        request: &Request,
        deadline: Instant,
    ) -> Result<Response, Error> {
        let work = self.attempts(token, request, deadline);
        timeout_at(deadline, work).await.unwrap_or(Err(Error::TimedOut))
    }

    async fn attempts(
        &self,
        token: Option<&Secret>,
        request: &Request,
        deadline: Instant,
    ) -> Result<Response, Error> {
        // The semaphore is never closed.
        let _permit = self.0.permits.acquire().await.map_err(|_| Error::TimedOut)?;
        let hash = self.token_hash(token);
        let mut failures = 0;
        loop {
            if let Some(until) = self.0.paused.get(&hash).filter(|until| *until > Instant::now()) {
                return Err(Error::RateLimited { status: 429, retry_after: until - Instant::now() });
            }
            let error = match self.follow(token, request, deadline).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            if let Error::RateLimited { retry_after, .. } = &error {
                self.0.paused.insert(hash, Instant::now() + *retry_after);
            }
            failures += 1;
            let Some(wait) = retry_wait(&error, request, failures) else { return Err(error) };
            let wait = with_jitter(wait, random_byte());
            if failures >= MAX_ATTEMPTS || Instant::now() + wait >= deadline {
                return Err(error);
            }
            sleep(wait).await;
        }
    }

    /// Sends a request once, and follows redirects on the same host.
    async fn follow(
        &self,
        token: Option<&Secret>,
        request: &Request,
        deadline: Instant,
    ) -> Result<Response, Error> {
        let mut url = request.url(&self.0.api)?;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.once(token, request, &url, deadline).await?;
            let status = response.status();
            let may_follow = match status {
                StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => request.method() == Method::GET,
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
                _ => return self.read(token, request, response).await,
            };
            let target = location(response.headers()).and_then(|to| url.join(to).ok());
            url = target
                .filter(|target| may_follow && target.origin() == self.0.api.origin())
                .ok_or(Error::Redirected { status: status.as_u16() })?;
        }
        Err(Error::Redirected { status: StatusCode::FOUND.as_u16() })
    }

    async fn once(
        &self,
        token: Option<&Secret>,
        request: &Request,
        url: &Url,
        deadline: Instant,
    ) -> Result<reqwest::Response, Error> {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut builder = self
            .0
            .client
            .request(request.method(), url.clone())
            .timeout(left.min(ATTEMPT_TIMEOUT))
            .header(ACCEPT, request.media_type())
            .header("x-github-api-version", API_VERSION);
        if let Some(token) = token {
            builder = builder.header(AUTHORIZATION, token.bearer().map_err(|_| Error::bad_token())?);
        }
        if let Some(etag) = request.etag() {
            builder = builder.header(IF_NONE_MATCH, etag);
        }
        if let Some(body) = request.body() {
            builder = builder.header("content-type", "application/json").body(body.to_string());
        }
        builder.send().await.map_err(unreachable)
    }

    /// Reads a response, and turns a status that is not a success into an error.
    async fn read(
        &self,
        token: Option<&Secret>,
        request: &Request,
        response: reqwest::Response,
    ) -> Result<Response, Error> {
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_success() || status == StatusCode::NOT_MODIFIED {
            let etag = headers.get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
            let body = read_body(response, request.max_bytes()).await?;
            return Ok(Response { status: status.as_u16(), etag, body });
        }
        let body = lyceum_net::read_start(response, error::MAX_ERROR_BODY_BYTES).await;
        Err(Error::of(status.as_u16(), &headers, &body, token, Timestamp::now()))
    }
}

impl std::fmt::Debug for GitHub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitHub").field("api", &self.0.api.as_str()).finish_non_exhaustive()
    }
}

/// How long to wait before the next attempt; `None` if it would not help.
fn retry_wait(error: &Error, request: &Request, failures: u32) -> Option<Duration> {
    let is_safe = request.method() == Method::GET;
    match error {
        Error::RateLimited { retry_after, .. } => {
            Some(*retry_after).filter(|wait| *wait <= MAX_RATE_LIMIT_WAIT)
        }
        Error::Unreachable { was_sent, .. } => (is_safe || !was_sent).then(|| BACKOFF.after(failures)),
        Error::Status { status: 500 | 502 | 503 | 504, .. } if is_safe => Some(BACKOFF.after(failures)),
        _ => None,
    }
}

fn location(headers: &HeaderMap) -> Option<&str> {
    headers.get(LOCATION)?.to_str().ok()
}

fn unreachable(error: reqwest::Error) -> Error {
    Error::Unreachable { reason: category(&error), was_sent: !error.is_connect(), cause: causes(error) }
}

/// For jitter only, so that it may be anything if the system gives no random bytes.
fn random_byte() -> u8 {
    let mut byte = [0];
    let _zero_is_fine = getrandom::fill(&mut byte);
    byte[0]
}

#[cfg(test)]
mod tests;
