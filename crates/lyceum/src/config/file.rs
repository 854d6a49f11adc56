//! Which file is the configuration, and how far it is trusted.
//!
//! A `lyceum.toml` of the working folder may have come with a checkout of somebody else's. It could name any variable of the
//! environment and a server of its own to send it to, or turn the sandbox off; so a program that others start in a folder of
//! their choice (`lyceum stdio`) does not read it, and commands that only ask something read no secret for it.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{Fault, Faults, Overrides, ValueOrigin, document::Document, environment};

/// The name of the file where none is named.
const NAME: &str = "lyceum.toml";

/// What a configuration is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be served from, or only looked at: a file of the working folder counts as it is.
    Serve,
    /// To work with once: a file of the working folder counts, but no secret is read for it.
    Once,
    /// For a program that an MCP client starts, in whatever folder: a file of the working folder does not count.
    Stdio,
}

/// A configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    /// Named by `--config` or `LYCEUM_CONFIG`.
    Named(PathBuf),
    /// `lyceum.toml` of the working folder.
    WorkingFolder,
    /// The user's own.
    User(PathBuf),
}

impl ConfigFile {
    /// The file that counts for that purpose, where there is one.
    pub(super) fn find(overrides: &Overrides, purpose: Purpose) -> Option<Self> {
        if let Some(file) = overrides.config.clone().or_else(environment::config_file) {
            return Some(Self::Named(file));
        }
        if purpose != Purpose::Stdio && Path::new(NAME).is_file() {
            return Some(Self::WorkingFolder);
        }
        let own = environment::user_config_dir()?.join(NAME);
        own.is_file().then_some(Self::User(own))
    }

    /// Reads it, with every syntax fault at once.
    pub(super) fn read(&self, purpose: Purpose) -> Result<Document, Faults> {
        let file = self.path();
        let text = std::fs::read_to_string(file).map_err(|error| {
            let message = format!("can't be read: {error}; name another file with --config, or leave it out");
            Faults(vec![Fault { place: ValueOrigin::File(file.to_owned()), key: String::new(), message }])
        })?;
        let mut document = Document::parse(file, &text).map_err(Faults)?;
        document.may_name_secrets = *self != Self::WorkingFolder || purpose == Purpose::Serve;
        Ok(document)
    }

    fn path(&self) -> &Path {
        match self {
            Self::Named(file) | Self::User(file) => file,
            Self::WorkingFolder => Path::new(NAME),
        }
    }
}

impl fmt::Display for ConfigFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(file) | Self::User(file) => write!(f, "{}", file.display()),
            Self::WorkingFolder => write!(f, "{NAME} of the working folder"),
        }
    }
}

/// Whether the working folder has a file that a program started by an MCP client does not read.
pub fn passes_over_working_folder() -> bool {
    Path::new(NAME).is_file()
}
