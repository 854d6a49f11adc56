//! Telling how skills are used: what the tools track, and the task that sends it.

use lyceum_content::skill::AnalyticsSettings;
use tokio_util::sync::CancellationToken;

use crate::{
    SkillSet, Skills,
    analytics::{Endpoint, Event, Schedule, publish},
};

impl Skills {
    /// Writes an event down, if the settings of this skill set want it.
    pub(crate) fn track(&self, skill_set: &SkillSet, event: &Event) {
        if skill_set.settings.analytics.enabled {
            self.tracker.track(event);
        }
    }

    /// Sends what is tracked to the endpoint of the settings, also when they change, until it is told to stop.
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
                // The sender lives as long as the service, so this only ends with a change.
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

/// Where to send to, if anywhere.
fn endpoint(settings: &AnalyticsSettings) -> Option<Endpoint> {
    if !settings.enabled || settings.endpoint.is_empty() {
        return None;
    }
    let endpoint = Endpoint::parse(&settings.endpoint);
    endpoint.inspect_err(|error| tracing::warn!(error.cause = %error, "usage events are stored but not sent: invalid analytics.endpoint")).ok()
}
