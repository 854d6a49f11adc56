//! Telling how skills are used: what the tools track, and the task that sends it.

use lyceum_content::skill::AnalyticsSettings;
use tokio_util::sync::CancellationToken;

use crate::{
    Library, Skills,
    analytics::{Endpoint, Event, Pace, publish},
};

impl Skills {
    /// Writes an event down, if the settings of this library want it.
    pub(crate) fn track(&self, library: &Library, event: &Event) {
        if library.settings.analytics.enabled {
            self.tracker.track(event);
        }
    }

    /// Sends what is tracked to the endpoint of the settings, also when they change, until it is told to stop.
    pub async fn publish_usage(&self, stop: CancellationToken) {
        let mut state = self.state();
        loop {
            let settings =
                state.borrow_and_update().library.as_ref().map(|library| library.settings.analytics.clone());
            let changed = async {
                let other = |settings: &Option<AnalyticsSettings>,
                             library: &Option<std::sync::Arc<Library>>| {
                    *settings != library.as_ref().map(|library| library.settings.analytics.clone())
                };
                // The sender lives as long as the service, so this only ends with a change.
                let _state = state.wait_for(|state| other(&settings, &state.library)).await;
            };
            match settings.as_ref().and_then(endpoint) {
                Some(endpoint) => {
                    let ended = async {
                        tokio::select! { () = changed => {}, () = stop.cancelled() => {} }
                    };
                    publish(self.tracker.clone(), endpoint, Pace::default(), ended).await;
                }
                None => {
                    tokio::select! { () = changed => {}, () = stop.cancelled() => {} }
                }
            }
            if stop.is_cancelled() {
                return;
            }
        }
    }
}

/// Where to send to, if anywhere.
fn endpoint(settings: &AnalyticsSettings) -> Option<Endpoint> {
    if !settings.enabled || settings.endpoint.is_empty() {
        return None;
    }
    let endpoint = Endpoint::parse(&settings.endpoint);
    endpoint.inspect_err(|error| tracing::warn!(error.cause = %error, "usage is kept and not sent: analytics.endpoint can't be used")).ok()
}
