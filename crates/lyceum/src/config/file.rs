//! Finds the configuration file, and decides how far to trust it.
//!
//! A `lyceum.toml` in the working directory may come from an untrusted checkout. It could name any environment
//! variable and a server to send its value to, or disable the sandbox. So `lyceum stdio`, which MCP clients start in
//! any folder, ignores it, and one-off commands read no secrets for it.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{Fault, Faults, Overrides, ValueOrigin, document::Document, environment};

/// The default file name.
const NAME: &str = "lyceum.toml";

/// What a configuration is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A server, or inspection of the configuration: a file in the working directory is fully trusted.
    Serve,
    /// A one-off command: a file in the working directory is used, but no secrets are read for it.
    Once,
    /// A server that an MCP client starts in any folder: a file in the working directory is ignored.
    Stdio,
}

/// A configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    /// Named by `--config` or `LYCEUM_CONFIG`.
    Named(PathBuf),
    /// `lyceum.toml` in the working directory.
    WorkingFolder,
    /// In the user's configuration folder.
    User(PathBuf),
}

impl ConfigFile {
    /// Finds the file for that purpose.
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

    /// Reads and parses the file; reports all syntax errors at once.
    pub(super) fn read(&self, purpose: Purpose) -> Result<Document, Faults> {
        let file = self.path();
        let text = std::fs::read_to_string(file).map_err(|error| {
            let message =
                format!("cannot read it: {error}; name another file with --config, or omit the flag");
            Faults(vec![Fault { origin: ValueOrigin::File(file.to_owned()), key: String::new(), message }])
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
            Self::WorkingFolder => write!(f, "{NAME} in the working directory"),
        }
    }
}

/// Whether the working directory has a `lyceum.toml`, which `lyceum stdio` ignores.
pub fn has_working_folder_file() -> bool {
    Path::new(NAME).is_file()
}
