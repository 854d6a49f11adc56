//! The environment: read here, once, and nowhere else.

use std::{env, path::PathBuf};

use super::{document::Document, fault::Place};

/// The variables that set a key, over the file and under a flag.
const VARIABLES: [(&str, &str, &str); 3] = [
    ("LYCEUM_LISTEN", "server", "listen"),
    ("LYCEUM_PUBLIC_URL", "server", "public_url"),
    ("LYCEUM_DATA_DIR", "server", "data_dir"),
];

/// Puts the environment over what the file says.
pub(super) fn apply(document: &mut Document) {
    for (variable, table, key) in VARIABLES {
        if let Ok(value) = env::var(variable) {
            document.set(table, key, value, Place::Variable(variable));
        }
    }
}

/// The file that `LYCEUM_CONFIG` names.
pub(super) fn config_file() -> Option<PathBuf> {
    env::var_os("LYCEUM_CONFIG").map(PathBuf::from)
}

/// What is logged: `LYCEUM_LOG`, in the form `info` or `lyceum=debug,info`.
pub fn log_filter() -> String {
    env::var("LYCEUM_LOG").unwrap_or_else(|_| "info".to_owned())
}

/// The platform's folder for data of this user; the working folder where there is none.
pub(super) fn default_data_dir() -> PathBuf {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map_or_else(|| PathBuf::from(".lyceum"), |base| base.join("lyceum"))
}
