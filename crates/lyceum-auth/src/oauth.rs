//! OAuth 2.1: clients, authorization requests, tokens.
//!
//! PKCE with S256 is required, redirect URIs must match exactly, tokens are bound to one resource. Validation is
//! pure; each exchange is one transaction, in `redeem.rs`.

pub mod client;
mod error;
pub mod metadata;
mod params;
pub mod redeem;
mod redirect;
pub mod request;

pub use error::{Fault, OauthError};
pub use params::{BadParams, Params};
pub use redirect::{Redirect, RedirectFault};
