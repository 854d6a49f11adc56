//! A configuration means what it says, and says everything that is wrong with it at once.

mod committed;
mod faults;
mod knowledge;
mod precedence;
mod skills;
mod values;

use std::path::Path;

use super::Config;
use crate::service::Settings;

/// The file that the texts of these tests stand in.
const FILE: &str = "/etc/lyceum/lyceum.toml";

#[track_caller]
fn load(text: &str) -> Config {
    Config::from_text(Path::new(FILE), text).unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

/// The one service with settings of that type.
#[track_caller]
fn declared<T: Settings + Clone>(config: &Config) -> T {
    config.services_of::<T>().next().unwrap().1.clone()
}
