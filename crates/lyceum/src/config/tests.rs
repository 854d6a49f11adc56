//! Parsing and validation of the configuration; all errors are reported at once.

mod committed;
mod faults;
mod github_app;
mod knowledge;
mod precedence;
mod skills;
mod store;
mod values;

use std::path::Path;

use super::Config;
use crate::service::Settings;

/// The file name of the texts in these tests.
const FILE: &str = "/etc/lyceum/lyceum.toml";

#[track_caller]
fn load(text: &str) -> Config {
    Config::from_text(Path::new(FILE), text).unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

/// The settings of the only service with that type.
#[track_caller]
fn declared<T: Settings + Clone>(config: &Config) -> T {
    config.services_of::<T>().next().unwrap().1.clone()
}
