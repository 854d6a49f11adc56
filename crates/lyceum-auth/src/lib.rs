//! Authentication: an OAuth 2.1 server, Sign-In with Ethereum, GitHub, API keys, roles and tokens → one `Caller`.
//!
//! Registered clients and unfinished sign-ins are stateless: their state is authenticated with an HMAC and carried
//! by them. Only grants and token hashes are stored, each step in one transaction.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod audit;
mod auth;
mod chain;
mod concurrency;
mod documents;
mod ens;
mod github;
mod hats;
pub mod oauth;
mod pat;
mod roles;
mod scopes;
mod seal;
mod session;
mod signin;
mod siwe;
mod subject;
mod token;
mod wallet;

pub use alloy_primitives::Address;
pub use audit::Event;
pub use auth::{
    Account, AdmissionError, ApiKey, Auth, ClientGrant, Credentials, Settings, SignInFault, Signature,
    Visitor, end_grants,
};
pub use chain::{BadChain, Chain, ChainError};
pub use ens::{Profile, UNIVERSAL_RESOLVER as ENS_RESOLVER};
pub use github::{BadGitHub, BadTeam, GitHub, GitHubSettings, Team};
pub use hats::{BadHat, CONTRACT as HATS_CONTRACT, Hat, Hats};
pub use lyceum_net::Guard;
pub use roles::{DEFAULT_ROLES_TTL, RolesUnavailable};
pub use scopes::{OFFLINE_ACCESS, Scopes, UnknownScope};
pub use seal::Key;
pub use signin::{ResumeError, SignIn, StartedSignIn};
pub use siwe::{Message, Moment, RejectedMessage, SiweDomain};
pub use subject::Subject;
pub use token::{Kind, Token};

#[cfg(test)]
mod tests;
