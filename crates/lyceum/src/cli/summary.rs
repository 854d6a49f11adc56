//! The table that `lyceum serve` prints once the first sync is done, and `lyceum init` writes as comments: each location, what it
//! is served as, and what is left out.

use std::{fmt::Write, sync::Arc, time::Duration};

use futures::future::join_all;

use super::locations::RecognisedLocation;
use crate::{
    config::{Config, KnowledgeService, Overrides, Source},
    finding::counted,
    service::{Inventory, Service},
    sources,
};

/// How long to wait for the first sync before what is served is printed.
pub(super) const SUMMARY_TIMEOUT: Duration = Duration::from_secs(30);

/// The URL of a server that is not configured otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:8787";

/// What is in the place of an inventory that is not there in time.
const PENDING: &str = "still syncing; the log says when it is done";

/// One source, with the services that read it.
#[derive(Debug)]
pub(super) struct Section {
    /// The location, and what it was recognised as.
    heading: String,
    /// Inventories by the name of the service.
    services: Vec<(String, Inventory)>,
}

/// Waits for the first sync of each service, up to that limit.
pub(super) async fn sections(
    services: impl Iterator<Item = &Arc<dyn Service>>,
    config: &Config,
    recognised: &[RecognisedLocation],
    limit: Duration,
) -> Vec<Section> {
    let wait = async |service: &dyn Service| {
        let inventory = match tokio::time::timeout(limit, service.inventory()).await {
            Ok(inventory) => inventory?,
            Err(_) => {
                let source = service.sources().into_iter().next()?.name;
                Inventory { source, served: PENDING.to_owned(), left_out: Vec::new() }
            }
        };
        Some((service.name().to_string(), inventory))
    };
    let inventories = join_all(services.map(|service| wait(&**service))).await;
    let inventories: Vec<(String, Inventory)> = inventories.into_iter().flatten().collect();
    // Locations of the command line come after the sources of the file, and only they are served.
    let first = config.sources.len().saturating_sub(recognised.len());
    let section = |(position, source): (usize, &Source)| {
        let location = position.checked_sub(first).and_then(|position| recognised.get(position));
        let of_source = inventories.iter().filter(|(_, one)| one.source == source.name);
        Section {
            heading: location.map_or_else(|| heading(config, source), ToString::to_string),
            services: of_source.cloned().collect(),
        }
    };
    let sections = config.sources.iter().enumerate().map(section);
    sections.filter(|section| !section.services.is_empty()).collect()
}

/// A configured source with its location.
fn heading(config: &Config, source: &Source) -> String {
    let location = sources::source(config, source).map(|source| sources::location(&source));
    location.map_or_else(|_| source.name.to_string(), |location| format!("{}: {location}", source.name))
}

impl Section {
    /// The section as lines, each with a line break.
    pub(super) fn lines(&self) -> String {
        let mut text = format!("{}\n", self.heading);
        let widest = self.services.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let width = widest.max("left out".len());
        let mut row = |name: &str, value: &str| {
            // Writing to a string can't fail.
            let _written = writeln!(text, "  {name:<width$}  {value}");
        };
        for (name, inventory) in &self.services {
            row(name, &inventory.served);
            for (position, line) in inventory.left_out.iter().enumerate() {
                row(if position == 0 { "left out" } else { "" }, line);
            }
        }
        text
    }

    /// The section as one line.
    pub(super) fn line(&self) -> String {
        let services = self.services.iter().map(|(name, inventory)| {
            let reasons = match inventory.left_out.len() {
                0 => String::new(),
                count => format!(" ({} to leave files out)", counted(count, "reason", "reasons")),
            };
            format!("{name}: {}{reasons}", inventory.served)
        });
        format!("{}; {}\n", self.heading, services.collect::<Vec<_>>().join("; "))
    }
}

/// The commands that come next: connect a client, search, keep the setup or diagnose it.
pub(super) fn next_commands(
    url: &str,
    config: &Config,
    overrides: &Overrides,
    recognised: &[RecognisedLocation],
) -> String {
    let locations: Vec<String> = recognised.iter().map(|one| quoted(one.location())).collect();
    let mut flags = String::new();
    for (flag, path) in [("--config", &overrides.config), ("--data-dir", &overrides.data_dir)] {
        if let Some(path) = path {
            // Writing to a string can't fail.
            let _written = write!(flags, " {flag} {}", quoted(&path.display().to_string()));
        }
    }
    let each = |flag: &str| locations.iter().map(|location| format!(" {flag}{location}")).collect::<String>();
    let named = if url == DEFAULT_URL { String::new() } else { format!(" --url {url}") };
    let mut commands = vec![(format!("lyceum connect claude{named}"), "connect a client, here Claude Code")];
    if config.services_of::<KnowledgeService>().next().is_some() {
        commands.push((
            format!("lyceum search{flags}{} your question", each("--source ")),
            "search without a client",
        ));
    }
    commands.push(if locations.is_empty() {
        (format!("lyceum doctor{flags}"), "check sources, skipped files and sign-in")
    } else {
        (format!("lyceum init{flags}{}", each("")), "keep this setup in lyceum.toml")
    });
    let width = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    let line = |(command, purpose): &(String, &str)| format!("  {command:<width$}   # {purpose}\n");
    format!("Next:\n{}", commands.iter().map(line).collect::<String>())
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
