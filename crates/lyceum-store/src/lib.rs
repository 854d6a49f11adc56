//! What is kept: documents as objects, and a database for everything else.
//!
//! The object store is canonical for content; the [`Db`] says which version counts, so that nobody sees half a sync.
//! Everything that belongs together is written in one transaction, and what was acknowledged survives a kill.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

pub mod audit;
mod counters;
mod db;
pub mod documents;
mod error;
pub mod events;
pub mod grants;
pub mod jobs;
pub mod kv;
mod leader;
mod migrations;
mod objects;
pub mod pages;
mod sql;
pub mod vectors;

pub use db::Db;
pub use error::DbError;
pub use leader::Leader;
pub use objects::{InvalidKey, Key, ObjectError, ObjectOptions, Objects, S3Settings};
pub use sql::{Param, Row, Tx};

#[cfg(test)]
mod tests;
