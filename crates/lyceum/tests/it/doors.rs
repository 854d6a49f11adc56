//! The doors: what each of them answers when it is used as it should be.

mod calls;
mod cards;
mod extensions;
mod lists;
mod origins;
mod probes;
mod rest;
mod services;
mod subscriptions;
