//! What all models of Workers AI have in common.

use serde::Deserialize;

/// Where it is.
pub(crate) const WORKERS_AI: &str = "https://api.cloudflare.com/client/v4";

/// What is around every answer.
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
    /// What is inside, or what went wrong.
    pub(crate) fn opened(self) -> Result<T, String> {
        match self.result {
            Some(result) if self.success => Ok(result),
            _ => {
                let messages: Vec<String> = self.errors.into_iter().map(|item| item.message).collect();
                Err(format!("no success: {}", messages.join(", ")))
            }
        }
    }
}

/// Where a model is asked, below the address of the endpoint.
pub(crate) fn workers_ai_path(account: &str, model: &str) -> String {
    format!("accounts/{account}/ai/run/{model}")
}
