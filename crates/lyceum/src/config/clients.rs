//! Where the environment says that MCP clients keep their configuration, for `lyceum connect`.

use std::path::PathBuf;

use lyceum_net::{InvalidSecret, Secret};

use super::environment::{app_config_dir, variable};

/// The folders of the user in which MCP clients keep their configuration.
#[derive(Debug, Clone)]
pub struct ClientFolders {
    /// The home folder.
    pub home: PathBuf,
    /// The platform's folder for the settings of applications.
    pub applications: PathBuf,
    /// `XDG_CONFIG_HOME` or `~/.config`, which some clients use on every platform.
    pub xdg: PathBuf,
    /// `CLAUDE_CONFIG_DIR`, of Claude Code.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`, of Codex.
    pub codex: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`, of Gemini CLI: it replaces the home folder.
    pub gemini: Option<PathBuf>,
    /// `OPENCODE_CONFIG`, of opencode: a file.
    pub opencode: Option<PathBuf>,
}

impl ClientFolders {
    /// Reads the environment; `None` if it names no home folder.
    pub fn load() -> Option<Self> {
        let path = |name: &str| variable(name).map(PathBuf::from);
        let home = path("HOME").or_else(|| path("USERPROFILE")).filter(|home| home.is_absolute())?;
        let xdg = path("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
        Some(Self {
            applications: app_config_dir().unwrap_or_else(|| home.join(".config")),
            xdg: xdg.unwrap_or_else(|| home.join(".config")),
            claude: path("CLAUDE_CONFIG_DIR"),
            codex: path("CODEX_HOME"),
            gemini: path("GEMINI_CLI_HOME"),
            opencode: path("OPENCODE_CONFIG"),
            home,
        })
    }
}

/// The API key in a variable, if it is set.
pub fn key_variable(name: &str) -> Option<Result<Secret, InvalidSecret>> {
    variable(name).map(|value| Secret::for_header(&value.to_string_lossy()))
}
