//! Settings of the skills service: defaults, overridden by `config.yaml`, `lyceum.toml` and the environment.

mod config_yaml;
mod reach;

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

pub use self::reach::{NetworkChoice, Workspace, WorkspaceAccess};
use super::Glob;

/// Settings of the skills service.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// Skill routing.
    pub matching: MatchSettings,
    /// Polling of a repository.
    pub refresh: RefreshSettings,
    /// Running scripts.
    pub scripts: ScriptSettings,
    /// Serving assets.
    pub assets: AssetSettings,
    /// Usage events.
    pub analytics: AnalyticsSettings,
}

/// Skill routing.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchSettings {
    /// Minimum score of a match.
    pub min_score: f64,
    /// Maximum number of candidates in an ambiguous match.
    pub max_results: usize,
    /// A match is ambiguous if the two best scores differ by less than this.
    pub ambiguity_threshold: f64,
}

/// Polling of a repository.
#[derive(Debug, Clone, PartialEq)]
pub struct RefreshSettings {
    /// Whether the repository is polled.
    pub enabled: bool,
    /// Polling interval, in minutes.
    pub interval_minutes: u64,
}

/// Running scripts.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptSettings {
    /// Whether scripts run at all.
    pub enabled: bool,
    /// Timeout of a script, in seconds.
    pub timeout_seconds: u64,
    /// Captured output per stream, in bytes.
    pub max_output_bytes: usize,
    /// File extensions that may run.
    pub allowed_extensions: Vec<String>,
    /// Command for each file extension.
    pub runners: BTreeMap<String, String>,
    /// Scripts of Agent Skills that the server may run, as paths relative to the skills folder.
    pub allow: Vec<Glob>,
    /// Sandbox level.
    pub sandbox: SandboxChoice,
    /// Network access of scripts that declare `network: true`.
    pub network: NetworkChoice,
    /// Local folder that scripts may access.
    pub workspace: Option<Workspace>,
}

/// Sandbox level of scripts. Only the operator may choose it, never a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxChoice {
    /// The strongest level that works on this machine; scripts are refused if none does.
    #[default]
    Auto,
    /// Bubblewrap: a separate view of the file system.
    Strict,
    /// Kernel features: Landlock, seccomp, resource limits, and a separate user or namespace.
    Standard,
    /// No sandbox: scripts run with the server's own permissions. Not recommended.
    None,
}

/// Serving assets.
#[derive(Debug, Clone, PartialEq)]
pub struct AssetSettings {
    /// Maximum size of an asset, in bytes.
    pub max_size_bytes: u64,
    /// Named in the specification without a meaning; parsed, but has no effect.
    pub inline_text_max_bytes: u64,
}

/// Usage events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnalyticsSettings {
    /// Whether usage events are sent.
    pub enabled: bool,
    /// URL that usage events are posted to.
    pub endpoint: String,
}

impl Default for MatchSettings {
    fn default() -> Self {
        Self { min_score: 0.2, max_results: 3, ambiguity_threshold: 0.1 }
    }
}

impl Default for RefreshSettings {
    fn default() -> Self {
        Self { enabled: true, interval_minutes: 15 }
    }
}

impl Default for ScriptSettings {
    fn default() -> Self {
        let runners = [(".sh", "bash"), (".ts", "npx tsx"), (".js", "node"), (".py", "python3")];
        Self {
            enabled: true,
            timeout_seconds: 60,
            max_output_bytes: 1_048_576,
            allowed_extensions: runners.iter().map(|(extension, _)| (*extension).to_owned()).collect(),
            runners: runners
                .iter()
                .map(|(extension, runner)| ((*extension).to_owned(), (*runner).to_owned()))
                .collect(),
            allow: Vec::new(),
            sandbox: SandboxChoice::Auto,
            network: NetworkChoice::Public,
            workspace: None,
        }
    }
}

impl Default for AssetSettings {
    fn default() -> Self {
        Self { max_size_bytes: 1_048_576, inline_text_max_bytes: 10_240 }
    }
}

/// Settings that override others; keys that are not set keep their value.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Overlay {
    /// How `get_skill` picks a skill for a task.
    pub matching: MatchOverlay,
    /// Polling of a repository.
    pub refresh: RefreshOverlay,
    /// How `run_script` runs scripts.
    pub scripts: ScriptOverlay,
    /// Limits of assets.
    pub assets: AssetOverlay,
    /// Usage events.
    pub analytics: AnalyticsOverlay,
}

/// The table `matching`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MatchOverlay {
    /// Minimum score of a match, from 0 to 1. Default: 0.2.
    #[schemars(range(min = 0.0, max = 1.0), example = 0.2)]
    pub min_score: Option<f64>,
    /// Maximum number of candidates listed for an ambiguous task. Default: 3.
    #[schemars(range(min = 1, max = 100), example = 3)]
    pub max_results: Option<usize>,
    /// A task is ambiguous if the two best scores differ by less than this. Default: 0.1.
    #[schemars(range(min = 0.0, max = 1.0), example = 0.1)]
    pub ambiguity_threshold: Option<f64>,
}

/// The table `refresh`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RefreshOverlay {
    /// Whether the repository is polled. Default: true.
    #[schemars(example = true)]
    pub enabled: Option<bool>,
    /// Polling interval, in minutes. Default: `poll_minutes` of the source, or 15. Overridden by
    /// `REFRESH_INTERVAL_MINUTES`.
    #[schemars(range(min = 1, max = 10_080), example = 15)]
    pub interval_minutes: Option<u64>,
}

/// The table `scripts`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptOverlay {
    /// Whether `run_script` runs scripts. Default: true over stdio, false over HTTP; there, a `config.yaml` can't turn it
    /// on.
    #[schemars(example = true)]
    pub enabled: Option<bool>,
    /// Timeout of a script, in seconds. Default: 60.
    #[schemars(range(min = 1, max = 3600), example = 60)]
    pub timeout_seconds: Option<u64>,
    /// Captured output per stream, in bytes; the rest is discarded. Default: 1048576 (1 MiB).
    #[schemars(range(min = 1024, max = 67_108_864), example = 1_048_576)]
    pub max_output_bytes: Option<usize>,
    /// File extensions that may run. Default: .sh, .ts, .js, .py.
    #[schemars(example = extensions_example())]
    pub allowed_extensions: Option<Vec<String>>,
    /// Command for each file extension, in addition to the defaults: bash, npx tsx, node, python3.
    #[schemars(example = runners_example())]
    pub runners: Option<BTreeMap<String, String>>,
    /// Scripts of `SKILL.md` folders that the server may run, as globs over their paths in the skills folder; `**` matches
    /// any number of folders. Default: none.
    #[schemars(example = allow_example())]
    pub allow: Option<Vec<Glob>>,
    /// Sandbox level. Default: "auto".
    #[schemars(example = &"auto")]
    pub sandbox: Option<SandboxChoice>,
    /// Network access of scripts that declare `network: true`. Default: "public" over stdio, "none" over HTTP.
    #[schemars(example = &"public")]
    pub network: Option<NetworkChoice>,
    /// Local folder that scripts may access, over stdio only. Default: none. Overridden by `SKILLS_WORKSPACE`.
    #[schemars(example = &"/home/me/project")]
    pub workspace: Option<PathBuf>,
    /// Access of scripts to the workspace. Default: "read". Overridden by `SKILLS_WORKSPACE_ACCESS`.
    #[schemars(example = &"read")]
    pub workspace_access: Option<WorkspaceAccess>,
}

fn allow_example() -> [&'static str; 2] {
    ["pdf/scripts/*.py", "**/scripts/check.sh"]
}

fn extensions_example() -> [&'static str; 2] {
    [".sh", ".py"]
}

fn runners_example() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([(".py", "python3")])
}

/// The table `assets`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AssetOverlay {
    /// Maximum size of an asset, in bytes. Default: 1048576 (1 MiB).
    #[schemars(range(min = 1, max = 67_108_864), example = 1_048_576)]
    pub max_size_bytes: Option<u64>,
    /// Accepted for compatibility; has no effect.
    #[schemars(example = 10_240)]
    pub inline_text_max_bytes: Option<u64>,
}

/// The table `analytics`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AnalyticsOverlay {
    /// Whether usage events are sent. Default: false. `ANALYTICS_ENDPOINT` turns it on.
    #[schemars(example = false)]
    pub enabled: Option<bool>,
    /// URL that usage events are posted to. Overridden by `ANALYTICS_ENDPOINT`.
    #[schemars(example = "https://usage.example.org/events")]
    pub endpoint: Option<String>,
}

impl Settings {
    /// Applies an overlay.
    pub fn overlaid(mut self, overlay: &Overlay) -> Self {
        let Overlay { matching, refresh, scripts, assets, analytics } = overlay;
        set(&mut self.matching.min_score, &matching.min_score);
        set(&mut self.matching.max_results, &matching.max_results);
        set(&mut self.matching.ambiguity_threshold, &matching.ambiguity_threshold);
        set(&mut self.refresh.enabled, &refresh.enabled);
        set(&mut self.refresh.interval_minutes, &refresh.interval_minutes);
        set(&mut self.scripts.enabled, &scripts.enabled);
        set(&mut self.scripts.timeout_seconds, &scripts.timeout_seconds);
        set(&mut self.scripts.max_output_bytes, &scripts.max_output_bytes);
        set(&mut self.scripts.allowed_extensions, &scripts.allowed_extensions);
        self.scripts.runners.extend(scripts.runners.clone().unwrap_or_default());
        set(&mut self.scripts.allow, &scripts.allow);
        set(&mut self.scripts.sandbox, &scripts.sandbox);
        set(&mut self.scripts.network, &scripts.network);
        if let Some(path) = &scripts.workspace {
            let access = scripts.workspace_access.unwrap_or_default();
            self.scripts.workspace = Some(Workspace { path: path.clone(), access });
        }
        set(&mut self.assets.max_size_bytes, &assets.max_size_bytes);
        set(&mut self.assets.inline_text_max_bytes, &assets.inline_text_max_bytes);
        set(&mut self.analytics.enabled, &analytics.enabled);
        set(&mut self.analytics.endpoint, &analytics.endpoint);
        self
    }
}

fn set<T: Clone>(value: &mut T, over: &Option<T>) {
    if let Some(over) = over {
        value.clone_from(over);
    }
}
