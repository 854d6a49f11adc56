//! Environment of git and its children: only what they need to reach a server.
//!
//! The environment also holds our own secrets (tokens, keys, signing secrets). A credential helper, an ssh wrapper or
//! another user who may read `/proc` would see them. Hence an allowlist, not a denylist.

use std::ffi::OsString;

/// Variables passed on.
const NAMES: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    // Proxies: curl knows them in lower case, and most of them in upper case.
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    // Certificates.
    "CURL_CA_BUNDLE",
    "NIX_SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    // Git itself: where its parts and its settings are, and how it reaches servers.
    "GIT_ASKPASS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    // Credential helpers: keyrings, password stores, and the settings of their programs.
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "GH_CONFIG_DIR",
    "GNUPGHOME",
    "GPG_TTY",
    "PASSWORD_STORE_DIR",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
];

/// Prefixes of further variables passed on.
const PREFIXES: &[&str] = &[
    "GCM_",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_HTTP_",
    "GIT_PROXY_SSL_",
    "GIT_SSL_",
    "KRB5",
    "LC_",
    "SSH_",
    "VSCODE_GIT_",
    "XDG_",
];

/// The variables of this process that are passed to git.
#[expect(clippy::disallowed_methods, reason = "handed on to git by name, and nothing of it is read")]
pub(super) fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited))
}

fn is_inherited(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests;
