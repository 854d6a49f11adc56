//! For how long a stream is for whoever opened it: a stream must not outlive the token, the grant or the role behind it.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use futures::StreamExt;
use http::HeaderMap;
use jiff::Timestamp;
use lyceum_auth::Auth;
use lyceum_model::Caller;

use super::admit::{resource_at, token};
use crate::{app::App, config::AuthService};

/// The shortest time between two looks, whatever the clocks say.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Who opened a stream, and by what.
pub(crate) struct Admission {
    auth: Auth,
    caller: Arc<Caller>,
    token: String,
    resource: String,
    /// How often it is looked whether the caller is still who they were.
    every: Duration,
}

impl Admission {
    /// By whom a request was sent; nothing for a stranger, who has nothing to lose.
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

    /// The same answer, ended when its caller is no longer let in as they were.
    pub(crate) fn bound(self, response: Response) -> Response {
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(self.ended()))))
    }

    /// Waits until the token has ended, or its holder may do other things than when the stream was opened. Where that can't
    /// be found out nothing is assumed, and the client comes back.
    async fn ended(self) {
        loop {
            let now = Timestamp::now();
            let left = self.auth.expires(&self.token, now).map(|expires| expires.duration_since(now));
            let left = left.map_or(self.every, |left| left.try_into().unwrap_or_default());
            tokio::time::sleep(left.min(self.every).max(MIN_CHECK_INTERVAL)).await;
            let caller = self.auth.admit(Some(&self.token), &self.resource, Timestamp::now()).await;
            if caller.as_ref() != Ok(&self.caller) {
                return;
            }
        }
    }
}
