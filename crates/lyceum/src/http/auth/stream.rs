//! Ends streams with their credentials: a stream must not outlive its token, grant or role.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use futures::StreamExt;
use http::HeaderMap;
use jiff::Timestamp;
use lyceum_auth::Auth;
use lyceum_model::Caller;

use super::admit::{resource_at, token};
use crate::{app::App, config::AuthService};

/// Minimum time between two checks.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The caller who opened a stream, with the token.
pub(crate) struct Admission {
    auth: Auth,
    caller: Arc<Caller>,
    token: String,
    resource: String,
    /// Interval of checks.
    every: Duration,
}

impl Admission {
    /// The admission of a request; `None` for anonymous callers, who have nothing to lose.
    pub(crate) fn of(app: &App, caller: &Arc<Caller>, resource: &str, headers: &HeaderMap) -> Option<Self> {
        let (AuthService::Gated(oauth), Some(auth)) = (&app.config.auth, &app.auth) else { return None };
        let token = token(headers).ok().flatten()?.to_owned();
        let every = oauth.roles_good_for.try_into().unwrap_or(MIN_CHECK_INTERVAL);
        Some(Self {
            auth: auth.clone(),
            caller: caller.clone(),
            token,
            resource: resource_at(auth, resource),
            every,
        })
    }

    /// Wraps a response so that it ends when the caller loses access.
    pub(crate) fn bound(self, response: Response) -> Response {
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(self.ended()))))
    }

    /// Waits until the token expires or the caller's permissions change. If a check fails, the stream ends too, and the
    /// client reconnects.
    async fn ended(self) {
        loop {
            let now = Timestamp::now();
            let left = self.auth.expires(&self.token, now).await.map(|expires| expires.duration_since(now));
            let left = left.map_or(self.every, |left| left.try_into().unwrap_or_default());
            tokio::time::sleep(left.min(self.every).max(MIN_CHECK_INTERVAL)).await;
            let caller = self.auth.admit(Some(&self.token), &self.resource, Timestamp::now()).await;
            if caller.as_ref() != Ok(&self.caller) {
                return;
            }
        }
    }
}
