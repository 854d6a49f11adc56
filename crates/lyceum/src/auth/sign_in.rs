//! Sign-in as a service: its routes, the deletion of what expired, its health and what `lyceum doctor` checks.
//!
//! It has no tools. `App` holds its [`Auth`] as well, because every request is authenticated by it.

use std::{fmt::Write, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use jiff::Timestamp;
use lyceum_auth::Auth;
use lyceum_model::Domain;
use serde_json::json;
use tracing::Instrument;

use crate::{
    config::Oauth,
    deadline::within,
    http::{self, Route},
    service::{Context, Examination, Health, Service},
};

/// Its name in `/health` and in metrics; no other service can have it.
pub(crate) static SIGN_IN: Domain = Domain::from_static("sign-in");

/// How often expired grants and tokens are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// How long the database may take to answer a health check.
const PING_TIMEOUT: Duration = Duration::from_secs(2);

/// The sign-in service.
pub(crate) struct SignIn {
    auth: Auth,
    settings: Oauth,
}

impl SignIn {
    pub(super) fn new(auth: Auth, settings: Oauth) -> Self {
        Self { auth, settings }
    }

    /// The verbs of sign-in.
    pub(crate) fn auth(&self) -> &Auth {
        &self.auth
    }
}

impl Service for SignIn {
    fn name(&self) -> &Domain {
        &SIGN_IN
    }

    fn routes(self: Arc<Self>) -> Vec<Route> {
        http::sign_in_routes(self.settings.mode)
    }

    fn start(self: Arc<Self>, context: &Context) {
        context.spawn(keep_swept(self.auth.clone()));
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(async {
            let is_well = within(PING_TIMEOUT, self.auth.ping()).await.is_ok_and(|answer| answer.is_ok());
            let waiting_for = (!is_well).then(|| "cannot read the sign-in database".to_owned());
            let detail = json!({ "mode": self.settings.mode.as_str(), "anonymous": self.settings.anonymous });
            Health { is_well, waiting_for, detail: Some(detail), ..Health::default() }
        })
    }

    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        Box::pin(async {
            let Oauth { anonymous, chains, .. } = &self.settings;
            let strangers =
                if *anonymous { "anonymous callers may use what is public" } else { "everyone must sign in" };
            let mut text = format!("sign-in: on; {strangers}\n");
            let mut is_well = true;
            for chain in chains {
                match chain.reach().await {
                    Ok(()) => writeln!(text, "  chain {} answers", chain.id())?,
                    Err(error) => {
                        is_well = false;
                        writeln!(text, "  {error}")?;
                    }
                }
            }
            Ok(Examination { text, is_well, ..Examination::default() })
        })
    }
}

/// Deletes expired grants and tokens, now and every hour.
async fn keep_swept(auth: Auth) {
    loop {
        let span = tracing::error_span!("delete_expired_grants");
        if let Err(error) = auth.sweep(Timestamp::now()).instrument(span.clone()).await {
            tracing::warn!(parent: &span, error.cause = %error, "could not delete expired grants and tokens");
        }
        tokio::time::sleep(SWEEP_INTERVAL).await;
    }
}
