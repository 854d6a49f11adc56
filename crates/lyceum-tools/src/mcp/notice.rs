//! Progress and log notifications of a call.

use rmcp::model::{
    CustomNotification, ProgressNotification, ProgressNotificationParam, ProgressToken, ServerNotification,
};
use serde_json::json;

use crate::LogLevel;

/// A notification that belongs to one call.
#[derive(Debug, Clone)]
pub struct Notice(ServerNotification);

impl Notice {
    pub(crate) fn progress(
        token: ProgressToken,
        done: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> Self {
        let mut params = ProgressNotificationParam::new(token, done);
        params.total = total;
        params.message = message;
        Self(ServerNotification::ProgressNotification(ProgressNotification::new(params)))
    }

    pub(crate) fn log(level: LogLevel, message: &str) -> Self {
        let params = json!({ "level": level, "logger": "lyceum", "data": message });
        Self(ServerNotification::CustomNotification(CustomNotification::new(
            "notifications/message",
            Some(params),
        )))
    }

    /// Converts it to the protocol's type.
    pub fn into_notification(self) -> ServerNotification {
        self.0
    }
}
