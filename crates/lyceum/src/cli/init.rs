//! `lyceum init`: writes a commented `lyceum.toml` that serves the same as `lyceum serve` with these locations.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, bail};
use lyceum_model::SourceName;
use lyceum_skills::Audience;

use super::{
    locations::{self, RecognisedLocation},
    summary::{self, SUMMARY_TIMEOUT, Section},
};
use crate::{
    config::{Config, Overrides, Purpose, SourceArgument, is_url},
    service::Service,
    services::Services,
    storage::Storage,
};

/// Writes the file, unless there is one.
pub(super) fn init(
    mut overrides: Overrides,
    locations: &[String],
    output: &Path,
) -> anyhow::Result<ExitCode> {
    if output.exists() {
        bail!("{} exists; to replace it, delete it first", output.display());
    }
    let recognised = locations::add(&mut overrides, locations, Purpose::Once)?;
    let config = Config::load(&overrides, Purpose::Once)?;
    let first = config.sources.len().saturating_sub(locations.len());
    let names: Vec<&SourceName> = config.sources.iter().skip(first).map(|source| &source.name).collect();
    let sections = sections(&config, &recognised, &names)?;
    let mut text = format!(
        "# Written by `lyceum init {}`. Check it with `lyceum check`, then run `lyceum serve`.\n",
        locations.join(" ")
    );
    for ((section, argument), name) in sections.iter().zip(&overrides.sources).zip(names) {
        let argument =
            SourceArgument { location: relative_to(output, &argument.location), ..argument.clone() };
        let comment: String = section.lines().lines().map(|line| format!("# {line}\n")).collect();
        write!(text, "\n{comment}{}", tables(&argument, name.as_str()))?;
    }
    let file = fs::OpenOptions::new().write(true).create_new(true).open(output);
    let cannot = || format!("cannot write {}", output.display());
    file.and_then(|mut file| file.write_all(text.as_bytes())).with_context(cannot)?;
    let mut out = io::stdout().lock();
    for section in &sections {
        writeln!(out, "{}", section.lines())?;
    }
    writeln!(out, "Wrote {}. Next: lyceum check, lyceum serve", output.display())?;
    Ok(ExitCode::SUCCESS)
}

/// What is served of these sources, after a sync.
#[tokio::main(flavor = "current_thread")]
async fn sections(
    config: &Config,
    recognised: &[RecognisedLocation],
    names: &[&SourceName],
) -> anyhow::Result<Vec<Section>> {
    let services = Services::make(config, Audience::OnePerson, &Storage::default())?;
    let reads_them =
        |service: &&Arc<dyn Service>| service.sources().iter().any(|source| names.contains(&&source.name));
    let services: Vec<&Arc<dyn Service>> = services.iter().filter(reads_them).collect();
    for service in &services {
        service.examine().await?;
    }
    Ok(summary::sections(services.into_iter(), config, recognised, SUMMARY_TIMEOUT).await)
}

/// A location as the file names it: paths are relative to the folder of the file, or absolute.
fn relative_to(output: &Path, location: &str) -> String {
    let is_here = output.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    if is_here || is_url(location) {
        return location.to_owned();
    }
    std::path::absolute(location).map_or_else(|_| location.to_owned(), |path| path.display().to_string())
}

/// The source and the tables of its services.
fn tables(argument: &SourceArgument, name: &str) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let (key, comment) = match is_url(&argument.location) {
        true => ("url", "\n# branch = \"main\"\n# token_env = \"GITHUB_TOKEN\"   # for a private repository"),
        false => ("path", "   # relative to this file"),
    };
    let mut text =
        format!("[[source]]\nname = {}\n{key} = {}{comment}\n", quoted(name), quoted(&argument.location));
    for service in &argument.services {
        let own = service.name.as_deref().map(|own| format!(".{own}")).unwrap_or_default();
        // Writing to a string can't fail.
        let _written = write!(text, "\n[{}{own}]\nsource = {}\n", service.table, quoted(name));
        if service.table == "knowledge" {
            text.push_str("# publish = \"auto\"   # or \"all\", or \"frontmatter\": only documents with `publish: true`\n");
        }
        if let Some(path) = &service.path {
            let _written = writeln!(text, "path = {}", quoted(path.as_str()));
        }
        if !service.exclude.is_empty() {
            let exclude: Vec<String> = service.exclude.iter().map(|path| quoted(path.as_str())).collect();
            let _written = writeln!(text, "exclude = [{}]   # they are served as skills", exclude.join(", "));
        }
    }
    text
}
