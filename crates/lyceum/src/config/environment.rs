//! The environment: read here, once, and nowhere else.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{document::Document, fault::Place};

/// The variables that set a key, over the file and under a flag.
const VARIABLES: [(&str, &str, &str); 3] = [
    ("LYCEUM_LISTEN", "server", "listen"),
    ("LYCEUM_PUBLIC_URL", "server", "public_url"),
    ("LYCEUM_DATA_DIR", "server", "data_dir"),
];

/// Reads a variable; one that is set to nothing counts as not set.
pub(super) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Puts the environment over what the file says.
pub(super) fn apply(document: &mut Document, variable: impl Fn(&str) -> Option<OsString>) {
    for (name, table, key) in VARIABLES {
        if let Some(value) = variable(name) {
            let value = if key == "data_dir" { from_here(value.as_ref()).into() } else { value };
            document.set(table, key, value.to_string_lossy().into_owned(), Place::Variable(name));
        }
    }
}

/// A path that does not stand in the file starts at the working folder.
pub(super) fn from_here(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The file that `LYCEUM_CONFIG` names.
pub(super) fn config_file() -> Option<PathBuf> {
    variable("LYCEUM_CONFIG").map(PathBuf::from)
}

/// What is logged: `LYCEUM_LOG`, in the form `info` or `lyceum=debug,info`.
pub fn log_filter() -> String {
    env::var("LYCEUM_LOG").unwrap_or_else(|_| "info".to_owned())
}

/// The platform's folder for data of this user; the working folder where there is none.
pub(super) fn default_data_dir() -> PathBuf {
    let variable = |name: &str| variable(name).map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map_or_else(|| PathBuf::from(".lyceum"), |base| base.join("lyceum"))
}
