//! Valid use of every transport and endpoint.

mod calls;
mod cards;
mod extensions;
mod lists;
mod origins;
mod probes;
mod rest;
mod services;
mod subscriptions;
