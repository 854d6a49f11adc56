//! The WaaP wallet: its third-party script, and the settings of `initWaaP`.

use serde::Serialize;
use serde_json::Value;

use super::super::check::{Checker, is_unencrypted};
use crate::http::Origin;

/// Default URL of the WaaP frame.
const DEFAULT_FRAME_URL: &str = "https://waap.xyz";

/// Default authentication methods and social accounts.
const DEFAULT_METHODS: [&str; 3] = ["wallet", "email", "social"];
const DEFAULT_SOCIALS: [&str; 3] = ["github", "discord", "google"];

/// The WaaP wallet, as the sign-in page embeds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waap {
    /// URL of the script.
    pub script: String,
    /// Origin of the script.
    pub script_origin: String,
    /// Subresource integrity digest of the script.
    pub integrity: String,
    /// Origin of the frame.
    pub frame_origin: String,
    /// The argument of `initWaaP`.
    pub settings: WaapSettings,
}

/// The argument of `initWaaP`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaapSettings {
    /// Authentication options.
    pub config: WaapConfig,
    /// The project that is shown.
    pub project: WaapProject,
    /// WalletConnect project id, which allows wallets on other devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wallet_connect_project_id: Option<String>,
}

/// Authentication options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaapConfig {
    /// Authentication methods, in order.
    pub authentication_methods: Vec<String>,
    /// Social accounts, for the method `social`.
    pub allowed_socials: Vec<String>,
    /// Appearance.
    pub styles: WaapStyles,
}

/// Appearance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaapStyles {
    /// Whether to use dark mode.
    pub dark_mode: bool,
}

/// The project that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaapProject {
    /// The name.
    pub name: String,
    /// Title of the dialog.
    pub entry_title: String,
}

impl WaapSettings {
    /// The default settings of a project with that name.
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
    let is_good = !is_unencrypted(&script) && Origin::parse(&root).is_some();
    if !is_good {
        let message = "must be an https URL, because the script runs on the sign-in page";
        checker.fault("/auth/waap/script_url", message.to_owned());
    }
    let frame = checker.text("/auth/waap/frame_origin").unwrap_or(DEFAULT_FRAME_URL).to_owned();
    if Origin::parse(&frame).is_none() {
        let message = format!("not an origin; write for example frame_origin = \"{DEFAULT_FRAME_URL}\"");
        checker.fault("/auth/waap/frame_origin", message);
    }
    // If it is missing, schema validation reports it.
    let integrity = checker.text("/auth/waap/integrity").unwrap_or_default().to_owned();
    let settings = settings(checker);
    Some(Waap { script, script_origin: root, integrity, frame_origin: frame, settings })
}

fn settings(checker: &Checker<'_>) -> WaapSettings {
    // Everyone sees the sign-in page.
    let is_hidden = checker.text("/knowledge/public") == Some("nothing");
    let title = checker.text("/knowledge/title").filter(|_| !is_hidden);
    let name = checker.text("/auth/waap/project_name").or(title);
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
