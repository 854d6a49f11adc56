//! Persistence: an object store for documents, and a database for everything else.
//!
//! The object store is canonical for content; the [`Db`] says which version is current, so readers never see half
//! a sync. Related changes are written in one transaction, and what was acknowledged survives a crash.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

pub mod audit;
mod counters;
mod db;
pub mod documents;
pub mod drafts;
mod error;
pub mod events;
pub mod grants;
pub mod inspection;
pub mod jobs;
pub mod kv;
mod leader;
pub mod leases;
mod migrations;
mod objects;
pub mod pages;
pub mod rate_limits;
mod sql;
pub mod transfer;
pub mod vectors;

pub use db::Db;
pub use error::{DbError, DriverError};
pub use leader::Leader;
pub use objects::{InvalidKey, Key, ObjectError, ObjectOptions, Objects, S3Settings};
pub use sql::{
    Param, Row, Tx,
    postgres::{PostgresSettings, Statements},
    sqlite::PageSize,
};

#[cfg(test)]
mod tests;
