//! Locations on the command line, such as `lyceum serve ./docs https://example.org/skills.git`: looks at each, and decides which
//! services it becomes.

use std::{
    collections::BTreeSet,
    fmt::{self, Write},
    fs, io,
    path::Path,
};

use anyhow::{Context, bail};
use lyceum_content::{
    ontology::Ontology,
    recognise::{DocumentsKind, Recognition, SkillsForm, recognise},
};
use lyceum_source::{Snapshot, Source};

use crate::{
    auth::SIGN_IN,
    config::{self, Config, Overrides, Purpose, ServiceArgument, SourceArgument},
    data_dir, knowledge, services, skills, sources,
    storage::STORE,
};

/// Maximum size of a file to look into.
const MAX_SAMPLE_BYTES: u64 = 256 * 1024;

/// A location, and what it was recognised as.
#[derive(Debug)]
pub(super) struct RecognisedLocation {
    /// As it was typed, but without credentials.
    location: String,
    recognition: Recognition,
}

/// Adds the locations to the overrides, each with the services it becomes; clones repositories that are not here yet.
pub(super) fn add(
    overrides: &mut Overrides,
    locations: &[String],
    purpose: Purpose,
) -> anyhow::Result<Vec<RecognisedLocation>> {
    for location in locations {
        check(location)?;
    }
    let bare = |location: &String| SourceArgument { location: location.clone(), services: Vec::new() };
    overrides.sources = locations.iter().map(bare).collect();
    if locations.is_empty() {
        return Ok(Vec::new());
    }
    let config = Config::load(overrides, purpose)?;
    data_dir::prepare(&config.data_dir)?;
    let first = config.sources.len().saturating_sub(locations.len());
    let ontology = Ontology::standard()?;
    let mut recognised = Vec::new();
    for (location, declared) in locations.iter().zip(config.sources.iter().skip(first)) {
        let source = sources::source(&config, declared)?;
        let location = match &source {
            Source::Repository(repository) => repository.url(),
            Source::Folder(_) | Source::Bundled(_) => location,
        };
        let snapshot = snapshot(location, &source)?;
        let read = |path: &_| String::from_utf8(snapshot.read(path, MAX_SAMPLE_BYTES).ok()?).ok();
        let recognition = recognise(snapshot.files().keys(), &ontology, read);
        recognised.push(RecognisedLocation { location: location.to_owned(), recognition });
    }
    let names: Vec<&str> = config.sources.iter().skip(first).map(|source| source.name.as_str()).collect();
    let services = services_of(&recognised, &names);
    for (argument, services) in overrides.sources.iter_mut().zip(services) {
        argument.services = services;
    }
    Ok(recognised)
}

/// Refuses a path that can't be served.
fn check(location: &str) -> anyhow::Result<()> {
    if config::is_url(location) {
        return Ok(());
    }
    let path = Path::new(location);
    match fs::read_dir(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if location.contains(':') && config::is_mistyped_url(location) {
                bail!(
                    "{location} is neither a folder nor a URL that Git can fetch from; write for example https://github.com/team/kb.git"
                );
            }
            let host = location.split('/').next().unwrap_or_default();
            if host.contains('.') && location.contains('/') && !host.starts_with('.') {
                bail!("no such folder: {location}; for a repository, write https://{location}");
            }
            bail!("no such folder: {location}")
        }
        Err(_) if path.is_file() => bail!("{location} is a file; name the folder that it is in"),
        Err(error) => Err(error).with_context(|| format!("cannot read the folder {location}")),
    }
}

/// The files of a source; clones a repository if there is no clone yet.
#[tokio::main(flavor = "current_thread")]
async fn snapshot(location: &str, source: &Source) -> anyhow::Result<Snapshot> {
    let unreadable = || format!("cannot read {location}");
    match source {
        Source::Folder(folder) => return folder.snapshot_without_commit().with_context(unreadable),
        Source::Repository(_) => {
            if let Some(snapshot) = source.local()? {
                return Ok(snapshot);
            }
            eprintln!("lyceum: cloning {location}");
        }
        Source::Bundled(_) => {}
    }
    source.refresh().await.with_context(unreadable)
}

/// The services of each location. Services of a kind that occurs once keep the plain name of the kind.
fn services_of(recognised: &[RecognisedLocation], names: &[&str]) -> Vec<Vec<ServiceArgument>> {
    let is_several = |of: fn(&Recognition) -> bool| {
        recognised.iter().filter(|location| of(&location.recognition)).count() > 1
    };
    let (several_bases, several_sets) =
        (is_several(serves_documents), is_several(|one| one.skills.is_some()));
    let mut taken: BTreeSet<String> = services::KINDS.iter().map(|kind| kind.table.to_owned()).collect();
    taken.extend([services::SERVER.to_string(), SIGN_IN.to_string(), STORE.to_string()]);
    let mut own = |name: &str, suffix: &str, is_several: bool| {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let names = [name.to_owned(), format!("{name}-{suffix}")].into_iter().chain(numbered);
        let free = is_several.then(|| names.into_iter().find(|name| !taken.contains(name))).flatten();
        taken.extend(free.clone());
        free
    };
    let services = |(location, name): (&RecognisedLocation, &&str)| {
        let recognition = &location.recognition;
        let mut services = Vec::new();
        if serves_documents(recognition) {
            let exclude = recognition.documents.iter().flat_map(|found| found.exclude.clone()).collect();
            let name = own(name, "docs", several_bases);
            services.push(ServiceArgument { table: knowledge::KIND.table, name, exclude, path: None });
        }
        if let Some(found) = &recognition.skills {
            let name = own(name, "skills", several_sets);
            let path = found.root.clone();
            services.push(ServiceArgument { table: skills::KIND.table, name, exclude: Vec::new(), path });
        }
        services
    };
    recognised.iter().zip(names).map(services).collect()
}

/// Whether a location becomes a knowledge base: one without skills does, even while it is empty.
fn serves_documents(recognition: &Recognition) -> bool {
    recognition.documents.is_some() || recognition.skills.is_none()
}

impl RecognisedLocation {
    /// The location, without credentials.
    pub(super) fn location(&self) -> &str {
        &self.location
    }
}

impl fmt::Display for RecognisedLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(found) = &self.recognition.documents {
            let kind = match found.kind {
                DocumentsKind::Typed => "typed knowledge base",
                DocumentsKind::Vault => "Obsidian vault",
                DocumentsKind::Agents => "agent profiles",
                DocumentsKind::Docs => "docs",
            };
            parts.push(format!("{kind}, {}", count(found.count, "markdown file")));
        }
        if let Some(found) = &self.recognition.skills {
            let form = match found.form {
                SkillsForm::Folders => "folders with SKILL.md",
                SkillsForm::Marketplace => "plugins with SKILL.md",
                SkillsForm::Keywords => "markdown with keywords",
            };
            parts.push(format!("{} ({form})", count(found.count, "skill")));
        }
        if parts.is_empty() {
            parts.push("no markdown files yet; watched for new ones".to_owned());
        }
        write!(f, "{}: {}", self.location, parts.join("; "))
    }
}

fn count(number: usize, noun: &str) -> String {
    let mut text = format!("{number} {noun}");
    if number != 1 {
        // Writing to a string can't fail.
        let _written = text.write_char('s');
    }
    text
}

#[cfg(test)]
mod tests;
