//! The process: configuration, command line, HTTP, MCP, stdio, telemetry.
//!
//! A handler here parses, calls one function of a lower crate, and formats the result; a business rule here is a bug.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests spawn tasks and sleep"))]

mod app;
mod auth;
mod cli;
#[expect(clippy::disallowed_methods, reason = "the only place that reads the environment")]
pub mod config;
mod data_dir;
mod deadline;
mod drain;
mod example;
mod finding;
mod gateway;
pub mod http;
mod inventory;
mod knowledge;
mod library;
mod mcp;
mod recent;
mod search;
pub mod service;
mod services;
mod skills;
mod sources;
mod storage;
mod tasks;
mod telemetry;
mod token_bucket;

pub use app::{App, StartError};
pub use cli::{Listening, listen, run, serve_until, until_stopped};
pub use service::Service;
pub use services::KINDS;
pub use telemetry::{Logging, init as init_telemetry};
