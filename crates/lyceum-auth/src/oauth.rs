//! OAuth 2.1: what a client asks for, what it may have, and what it gets.
//!
//! PKCE with S256 for everyone, exact redirect addresses, tokens bound to one resource. Deciding is pure; what must be
//! true of several rows at once is one transaction in `exchange.rs`.

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
