//! What a client is connected to: the URL of a server, or a command that it starts.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use lyceum_net::{Secret, is_loopback_url};
use reqwest::Url;

use crate::config::{Config, ConfigFile, Overrides, has_working_folder_file, is_url};

/// What a client is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Server {
    /// A server over HTTP.
    Http {
        /// The URL of its MCP endpoint.
        url: String,
        /// The API key to send. Without one, the client signs in if the server asks for it.
        key: Option<Key>,
    },
    /// A program that the client starts.
    Stdio {
        /// Its absolute path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// An API key, for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// The variable in which the client finds it.
    Variable(String),
    /// The key itself, to be written to the client's file.
    Value(Secret),
}

impl Server {
    /// What it is, in a word or two: the URL or the command line.
    pub(super) fn address(&self) -> String {
        match self {
            Self::Http { url, .. } => url.clone(),
            Self::Stdio { command, args } => format!("{command} {}", args.join(" ")),
        }
    }
}

/// The URL of the MCP endpoint: as typed, or `/mcp` of a server that is named without a path.
pub(super) fn endpoint(typed: &str) -> anyhow::Result<Url> {
    let example = "write for example https://mcp.example.org/mcp";
    let mut url = Url::parse(typed).with_context(|| format!("--url: {typed:?} is not a URL; {example}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        bail!("--url: {typed:?} is not a URL of http or https; {example}");
    }
    if !url.username().is_empty() || url.password().is_some() {
        bail!("--url: a user or password in the URL would be stored in clear; pass a key with --key-env");
    }
    if url.path() == "/" {
        url.set_path("/mcp");
    }
    Ok(url)
}

/// The URL at which clients on this machine reach the configured server.
pub(super) fn configured_endpoint(config: &Config) -> anyhow::Result<Url> {
    if let Some(url) = &config.public_url {
        return endpoint(&format!("{url}/mcp"));
    }
    let mut listen = config.listen;
    if listen.ip().is_unspecified() {
        let loopback =
            if listen.is_ipv4() { [127, 0, 0, 1].into() } else { std::net::Ipv6Addr::LOCALHOST.into() };
        listen.set_ip(loopback);
    }
    if listen.port() == 0 {
        bail!(
            "the configuration listens on a free port, which changes with each start; name the server with --url"
        );
    }
    endpoint(&format!("http://{listen}/mcp"))
}

/// Whether a key would be sent to this URL in clear, over a network.
pub(super) fn is_clear_text(url: &Url) -> bool {
    url.scheme() == "http" && !is_loopback_url(url)
}

/// `lyceum stdio` with absolute paths, for clients start it in any folder.
pub(super) fn stdio(config: &Config, overrides: &Overrides, locations: &[String]) -> anyhow::Result<Server> {
    let mut args = vec!["stdio".to_owned()];
    for (flag, path) in [("--config", named_file(config)), ("--data-dir", overrides.data_dir.as_deref())] {
        if let Some(path) = path {
            args.extend([flag.to_owned(), absolute(path)?]);
        }
    }
    if locations.is_empty() && named_file(config).is_none() && !config.is_written {
        if has_working_folder_file() {
            bail!(
                "lyceum stdio ignores the lyceum.toml of the working directory; write --config lyceum.toml"
            );
        }
        bail!("nothing is configured; name what to serve, for example: lyceum connect claude --stdio ./docs");
    }
    for location in locations {
        args.push(if is_url(location) { location.clone() } else { existing_folder(location)? });
    }
    Ok(Server::Stdio { command: program(&config.machine.search_path)?, args })
}

/// The configuration file that `lyceum stdio` would not find by itself.
fn named_file(config: &Config) -> Option<&Path> {
    match &config.file {
        Some(ConfigFile::Named(file)) => Some(file),
        Some(ConfigFile::WorkingFolder | ConfigFile::User(_)) | None => None,
    }
}

fn existing_folder(location: &str) -> anyhow::Result<String> {
    if !Path::new(location).is_dir() {
        bail!("no such folder: {location}");
    }
    absolute(Path::new(location))
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    // Links stay as they are named, except behind `..`, which only the file system can resolve.
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    let resolved = if has_parent { path.canonicalize() } else { std::path::absolute(path) };
    let path = resolved.with_context(|| format!("cannot resolve {}", path.display()))?;
    let text = path
        .to_str()
        .with_context(|| format!("{} is not UTF-8, which clients can't read", path.display()))?;
    Ok(text.to_owned())
}

/// This program: as `PATH` names it, if that is the same file, for such a path survives an upgrade.
fn program(search_path: &[PathBuf]) -> anyhow::Result<String> {
    let current = std::env::current_exe().context("cannot find the path of this program")?;
    let same = |candidate: &PathBuf| {
        candidate.is_absolute()
            && matches!((candidate.canonicalize(), current.canonicalize()), (Ok(one), Ok(other)) if one == other)
    };
    let name = format!("lyceum{}", std::env::consts::EXE_SUFFIX);
    let on_path = search_path.iter().map(|folder| folder.join(&name)).find(same);
    absolute(&on_path.unwrap_or(current))
}

#[cfg(test)]
mod tests;
