//! The wallet of WaaP: its script, which is that of others, and the settings that it is started with.

use serde::Serialize;
use serde_json::Value;

use super::super::check::{Checker, is_plain};
use crate::http::Origin;

/// The frame of WaaP, where none is named.
const DEFAULT_FRAME_URL: &str = "https://waap.xyz";

/// How people sign in there, where nothing else is said.
const DEFAULT_METHODS: [&str; 3] = ["wallet", "email", "social"];
const DEFAULT_SOCIALS: [&str; 3] = ["github", "discord", "google"];

/// The wallet of WaaP, as the page brings it in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waap {
    /// Its script.
    pub script: String,
    /// The origin of the script.
    pub script_origin: String,
    /// The digest of the script: the browser runs no other.
    pub integrity: String,
    /// The origin of its frame.
    pub frame_origin: String,
    /// What it is started with.
    pub settings: WaapSettings,
}

/// What `initWaaP` is called with, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaapSettings {
    /// How people sign in there.
    pub config: WaapConfig,
    /// Who asks.
    pub project: WaapProject,
    /// The project at WalletConnect, where wallets on other machines are let in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wallet_connect_project_id: Option<String>,
}

/// How people sign in there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaapConfig {
    /// The ways, in order.
    pub authentication_methods: Vec<String>,
    /// The sites, where one of the ways is `social`.
    pub allowed_socials: Vec<String>,
    /// How it looks.
    pub styles: WaapStyles,
}

/// How it looks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaapStyles {
    /// Light letters on dark.
    pub dark_mode: bool,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaapProject {
    /// The name.
    pub name: String,
    /// What stands above the ways to sign in.
    pub entry_title: String,
}

impl WaapSettings {
    /// Those of a project with that name, where nothing else is said.
    pub fn of(name: &str) -> Self {
        Self {
            config: WaapConfig {
                authentication_methods: DEFAULT_METHODS.map(str::to_owned).to_vec(),
                allowed_socials: DEFAULT_SOCIALS.map(str::to_owned).to_vec(),
                styles: WaapStyles { dark_mode: true },
            },
            project: WaapProject { name: name.to_owned(), entry_title: format!("Sign in to {name}") },
            wallet_connect_project_id: None,
        }
    }
}

pub(super) fn waap(checker: &mut Checker<'_>) -> Option<Waap> {
    let script = checker.text("/auth/waap/script_url")?.to_owned();
    let root = script.split('/').take(3).collect::<Vec<_>>().join("/");
    let is_good = !is_plain(&script) && Origin::parse(&root).is_some();
    if !is_good {
        let message =
            "it is not an address of https; a script in the sign-in page must not change on its way";
        checker.fault("/auth/waap/script_url", message.to_owned());
    }
    let frame = checker.text("/auth/waap/frame_origin").unwrap_or(DEFAULT_FRAME_URL).to_owned();
    if Origin::parse(&frame).is_none() {
        let message =
            format!("it is not an origin; write for example frame_origin = \"{DEFAULT_FRAME_URL}\"");
        checker.fault("/auth/waap/frame_origin", message);
    }
    // Where it is missing the schema says so.
    let integrity = checker.text("/auth/waap/integrity").unwrap_or_default().to_owned();
    let settings = settings(checker);
    Some(Waap { script, script_origin: root, integrity, frame_origin: frame, settings })
}

fn settings(checker: &Checker<'_>) -> WaapSettings {
    let name = checker.text("/auth/waap/project_name").or_else(|| checker.text("/knowledge/title"));
    let mut settings = WaapSettings::of(name.unwrap_or("lyceum"));
    let list = |key: &str| {
        let items = checker.document.values.pointer(&format!("/auth/waap/{key}"))?.as_array()?;
        Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
    };
    if let Some(methods) = list("authentication_methods") {
        settings.config.authentication_methods = methods;
    }
    if let Some(socials) = list("allowed_socials") {
        settings.config.allowed_socials = socials;
    }
    if let Some(dark) = checker.document.values.pointer("/auth/waap/dark_mode").and_then(Value::as_bool) {
        settings.config.styles.dark_mode = dark;
    }
    if let Some(title) = checker.text("/auth/waap/entry_title") {
        settings.project.entry_title = title.to_owned();
    }
    settings.wallet_connect_project_id =
        checker.text("/auth/waap/wallet_connect_project_id").map(str::to_owned);
    settings
}
