//! Shared by all models of Workers AI.

use serde::Deserialize;

/// Default base URL.
pub(crate) const WORKERS_AI: &str = "https://api.cloudflare.com/client/v4";

/// The envelope of every response.
#[derive(Debug, Deserialize)]
pub struct Envelope<T> {
    success: bool,
    result: Option<T>,
    #[serde(default)]
    errors: Vec<ErrorItem>,
}

#[derive(Debug, Deserialize)]
struct ErrorItem {
    message: String,
}

impl<T> Envelope<T> {
    /// The result, or the error messages.
    pub(crate) fn into_result(self) -> Result<T, String> {
        match self.result {
            Some(result) if self.success => Ok(result),
            _ => {
                let messages: Vec<String> = self.errors.into_iter().map(|item| item.message).collect();
                Err(format!("not successful: {}", messages.join(", ")))
            }
        }
    }
}

/// Path of a model below the base URL.
pub(crate) fn workers_ai_path(account: &str, model: &str) -> String {
    format!("accounts/{account}/ai/run/{model}")
}
