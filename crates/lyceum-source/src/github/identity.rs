//! The server's own identity at GitHub, for what it does on its own behalf: opening pull requests.

use lyceum_net::Secret;

use super::Error;

/// Whom the server acts as.
#[derive(Debug, Clone)]
pub enum Identity {
    /// The owner of a token.
    Token(Secret),
}

impl Identity {
    /// The token to send.
    #[expect(clippy::unused_async, reason = "an installation token of a GitHub App has to be fetched")]
    pub async fn token(&self) -> Result<Secret, Error> {
        match self {
            Self::Token(token) => Ok(token.clone()),
        }
    }
}
