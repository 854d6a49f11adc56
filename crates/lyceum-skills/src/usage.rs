//! Usage events: tracking by tools, and the publishing task.

use lyceum_content::skill::AnalyticsSettings;
use tokio_util::sync::CancellationToken;

use crate::{
    SkillSet, Skills,
    analytics::{Endpoint, Event, Schedule, publish},
};

impl Skills {
    /// Records an event, if analytics is enabled for this skill set.
    pub(crate) fn track(&self, skill_set: &SkillSet, event: &Event) {
        if skill_set.settings.analytics.enabled {
            self.tracker.track(event);
        }
    }

    /// Publishes events to the configured endpoint, following changes of the settings, until stopped.
    pub async fn publish_usage(&self, stop: CancellationToken) {
        let mut state = self.state();
        loop {
            let settings = state
                .borrow_and_update()
                .skill_set
                .as_ref()
                .map(|skill_set| skill_set.settings.analytics.clone());
            let changed = async {
                let other = |settings: &Option<AnalyticsSettings>,
                             skill_set: &Option<std::sync::Arc<SkillSet>>| {
                    *settings != skill_set.as_ref().map(|skill_set| skill_set.settings.analytics.clone())
                };
                // The sender lives as long as the service, so this ends only with a change.
                let _state = state.wait_for(|state| other(&settings, &state.skill_set)).await;
            };
            match settings.as_ref().and_then(endpoint) {
                Some(endpoint) => {
                    let ended = async {
                        tokio::select! { () = changed => {}, () = stop.cancelled() => {} }
                    };
                    publish(self.tracker.clone(), endpoint, Schedule::default(), ended).await;
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

/// The endpoint, if analytics is enabled and configured.
fn endpoint(settings: &AnalyticsSettings) -> Option<Endpoint> {
    if !settings.enabled || settings.endpoint.is_empty() {
        return None;
    }
    let endpoint = Endpoint::parse(&settings.endpoint);
    endpoint.inspect_err(|error| tracing::warn!(error.cause = %error, "usage events are stored but not sent: invalid analytics.endpoint")).ok()
}
