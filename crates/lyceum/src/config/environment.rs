//! The environment. No other module reads it.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{Machine, document::Document, fault::ValueOrigin};

/// Variables that set a key: they override the file, and flags override them.
const VARIABLES: [(&str, &str, &str); 4] = [
    ("LYCEUM_LISTEN", "server", "listen"),
    ("LYCEUM_PUBLIC_URL", "server", "public_url"),
    ("LYCEUM_DATA_DIR", "server", "data_dir"),
    ("LYCEUM_MODELS", "search", "models"),
];

/// Reads a variable; an empty one counts as unset.
pub(super) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Overrides the file with environment variables.
pub(super) fn apply(document: &mut Document, variable: &impl Fn(&str) -> Option<OsString>) {
    for (name, table, key) in VARIABLES {
        if let Some(value) = variable(name) {
            let value = if matches!(key, "data_dir" | "models") {
                absolute_path(value.as_ref()).into()
            } else {
                value
            };
            document.set(table, key, value.to_string_lossy().into_owned(), ValueOrigin::Variable(name));
        }
    }
    let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
    if let Some(kind) = text("LYCEUM_EMBEDDER") {
        document.set_in("/search/embedder", "kind", kind.into(), ValueOrigin::Variable("LYCEUM_EMBEDDER"));
    }
    if let Some(hub) = text("HF_ENDPOINT") {
        document.set("search", "hub", hub, ValueOrigin::Variable("HF_ENDPOINT"));
    }
    apply_skills(document, text);
}

/// The variables of the skills service. `SKILLS_DIR` or `SKILLS_REPO` enables it; the others set single keys.
fn apply_skills(document: &mut Document, variable: impl Fn(&str) -> Option<String>) {
    let source = if let Some(folder) = variable("SKILLS_DIR") {
        let folder = absolute_path(folder.as_ref()).display().to_string();
        Some(("SKILLS_DIR", json!({ "path": folder })))
    } else if let Some(url) = variable("SKILLS_REPO") {
        let branch = variable("SKILLS_BRANCH").unwrap_or_else(|| "main".to_owned());
        let mut source = json!({ "url": url, "branch": branch });
        if let (Some(_), Some(source)) = (variable("GITHUB_TOKEN"), source.as_object_mut()) {
            source.insert("token_env".to_owned(), "GITHUB_TOKEN".into());
        }
        Some(("SKILLS_REPO", source))
    } else {
        None
    };
    if let Some((name, source)) = source {
        let source_name = document.add_source("skills", source, ValueOrigin::Variable(name));
        document.set("skills", "source", source_name, ValueOrigin::Variable(name));
    }
    if document.values.get("skills").is_none() {
        return;
    }
    if let Some(folder) = variable("SKILLS_WORKSPACE") {
        let folder = absolute_path(folder.as_ref()).display().to_string();
        document.set_in(
            "/skills/scripts",
            "workspace",
            folder.into(),
            ValueOrigin::Variable("SKILLS_WORKSPACE"),
        );
    }
    if let Some(access) = variable("SKILLS_WORKSPACE_ACCESS") {
        let origin = ValueOrigin::Variable("SKILLS_WORKSPACE_ACCESS");
        document.set_in("/skills/scripts", "workspace_access", access.into(), origin);
    }
    if let Some(endpoint) = variable("ANALYTICS_ENDPOINT") {
        let origin = || ValueOrigin::Variable("ANALYTICS_ENDPOINT");
        document.set_in("/skills/analytics", "enabled", true.into(), origin());
        document.set_in("/skills/analytics", "endpoint", endpoint.into(), origin());
    }
    if let Some(minutes) = variable("REFRESH_INTERVAL_MINUTES") {
        let origin = || ValueOrigin::Variable("REFRESH_INTERVAL_MINUTES");
        let minutes =
            minutes.trim().parse::<u64>().map_or_else(|_| Value::from(minutes.as_str()), Value::from);
        document.set_in("/skills/refresh", "enabled", true.into(), origin());
        document.set_in("/skills/refresh", "interval_minutes", minutes, origin());
    }
}

/// What the environment says about the machine.
pub(super) fn machine(variable: &impl Fn(&str) -> Option<OsString>) -> Machine {
    let user = variable("USER").or_else(|| variable("USERNAME"));
    Machine {
        search_path: variable("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default(),
        temporary: env::temp_dir(),
        user: user.map_or_else(|| "unknown".to_owned(), |user| user.to_string_lossy().into_owned()),
    }
}

/// Resolves a path from a variable or flag against the working directory.
pub(super) fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The file named by `LYCEUM_CONFIG`.
pub(super) fn config_file() -> Option<PathBuf> {
    variable("LYCEUM_CONFIG").map(PathBuf::from)
}

/// The failpoint at which a test ends the process; see `lyceum_knowledge::failpoint`.
pub fn end_at() -> Option<String> {
    env::var("LYCEUM_TRIAL_END_AT").ok()
}

/// The request of Git's askpass protocol, if Git started this process.
pub fn askpass_prompt_request() -> Option<String> {
    env::var(lyceum_source::ASKPASS_VARIABLE).ok()
}

/// The folder with models that was installed with this program: beside it, or in `share` of its prefix.
pub(super) fn packaged_models() -> Option<PathBuf> {
    let program = env::current_exe().and_then(|program| program.canonicalize()).ok()?;
    let folder = program.parent()?;
    let beside = folder.join("models");
    let shared = folder.parent().map(|prefix| prefix.join("share/lyceum/models"));
    [Some(beside), shared].into_iter().flatten().find(|folder| folder.is_dir())
}

/// The platform's configuration folder of the user.
pub(super) fn user_config_dir() -> Option<PathBuf> {
    app_config_dir().map(|base| base.join("lyceum"))
}

/// The platform's folder for the settings of applications.
pub(super) fn app_config_dir() -> Option<PathBuf> {
    let variable = |name: &str| variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")))
    }
}

/// The platform's data folder of the user; a folder in the working directory if there is none.
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
