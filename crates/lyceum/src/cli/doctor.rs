//! `lyceum doctor`: checks everything that is configured, as the server would.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use lyceum_model::Domain;
use lyceum_models::{embedder, model::Folder};
use lyceum_skills::Audience;
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::{
    app::public_url,
    config::{Config, Overrides, Purpose},
    data_dir,
    finding::{Listing, lines},
    service::{Examination, Finding, Service},
    services::{KINDS, Services},
    storage::{STORE, Storage},
};

/// The arguments of `lyceum doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Folders and Git repositories to diagnose [default: what the configuration names]
    #[arg(value_name = "PATH|GIT-URL")]
    pub(super) locations: Vec<String>,
    /// List every finding, instead of one line for the same finding about many files
    #[arg(long)]
    all: bool,
    /// Print JSON: version, healthy, and sections with name, healthy, lines and findings
    #[arg(long)]
    json: bool,
}

/// The diagnosis. Its keys are stable.
#[derive(Serialize)]
struct Diagnosis {
    version: &'static str,
    healthy: bool,
    sections: Vec<Section>,
}

/// One part of the deployment.
#[derive(Serialize)]
struct Section {
    name: String,
    healthy: bool,
    lines: Vec<String>,
    findings: Vec<Finding>,
}

impl Section {
    fn new(name: &str, text: &str) -> Self {
        let lines = text.lines().map(str::to_owned).collect();
        Self { name: name.to_owned(), healthy: true, lines, findings: Vec::new() }
    }

    fn of(service: &dyn Service, runtime: &Runtime) -> anyhow::Result<Self> {
        let Examination { text, findings, is_well } = runtime.block_on(service.examine())?;
        Ok(Self { healthy: is_well, findings, ..Self::new(service.name().as_str(), &text) })
    }
}

/// Says what works and what does not; fails when something does not work at all.
pub(super) fn doctor(overrides: &Overrides, args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match print(&mut out, overrides, args) {
        // Whoever reads has seen enough.
        Err(error)
            if error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) =>
        {
            Ok(ExitCode::SUCCESS)
        }
        message => message,
    }
}

fn print(out: &mut impl Write, overrides: &Overrides, args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let mut diagnosis = Diagnosis { version: env!("CARGO_PKG_VERSION"), healthy: true, sections: Vec::new() };
    if !args.json {
        writeln!(out, "lyceum {}", diagnosis.version)?;
    }
    // Each section is printed at once, because the next one may take long.
    diagnose(overrides, |section| {
        if !args.json {
            for line in &section.lines {
                writeln!(out, "{line}")?;
            }
            out.write_all(lines(&section.findings, Listing::of(args.all)).as_bytes())?;
        }
        diagnosis.healthy &= section.healthy;
        diagnosis.sections.push(section);
        Ok(())
    })?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&diagnosis)?)?;
    }
    Ok(if diagnosis.healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn diagnose(overrides: &Overrides, mut add: impl FnMut(Section) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let config = match Config::load(overrides, Purpose::Once) {
        Ok(config) => config,
        Err(faults) => {
            let section = Section::new("configuration", &format!("configuration: {faults}"));
            return add(Section { healthy: false, ..section });
        }
    };
    let section = configuration(&config);
    let is_usable = section.healthy;
    add(section)?;
    if !is_usable {
        return Ok(());
    }
    let runtime = Runtime::new()?;
    add(Section::new("search", &format!("search: {}", search(&config))))?;
    let storage = match Storage::open(&config) {
        Ok(storage) => storage,
        Err(error) => {
            let section = Section::new(STORE.as_str(), &format!("shared store: {error:#}"));
            return add(Section { healthy: false, ..section });
        }
    };
    if let Some(store) = storage.service(&config) {
        add(Section::of(&*store, &runtime)?)?;
    }
    let services = Services::make(&config, Audience::OnePerson, &storage)?;
    let issuer = public_url(&config, config.listen);
    match services.sign_in(&config, &issuer, &services.offers(&config)?, &storage)? {
        None => add(Section::new(
            "sign-in",
            "sign-in: off; everyone who can reach the server may call everything",
        ))?,
        Some(sign_in) => add(Section::of(&*sign_in, &runtime)?)?,
    }
    for kind in KINDS {
        let declared = config.services.iter().filter(|declared| declared.kind.table == kind.table);
        let names: Vec<&Domain> = declared.map(|declared| &declared.name).collect();
        if names.is_empty() {
            add(Section::new(kind.table, &format!("{}: off; {}", kind.table, kind.hint)))?;
        }
        for service in services.iter().filter(|service| names.contains(&service.name())) {
            add(Section::of(&**service, &runtime)?)?;
        }
    }
    Ok(())
}

fn configuration(config: &Config) -> Section {
    let file = config.file.as_ref().map_or_else(|| "no file".to_owned(), ToString::to_string);
    let text = format!("configuration: valid ({file}); data in {}", config.data_dir.display());
    let mut section = Section::new("configuration", &text);
    section.lines.extend(config.warnings().into_iter().map(|warning| format!("  warning  {warning}")));
    if let Err(error) = data_dir::prepare(&config.data_dir) {
        section.lines.push(format!("  error  {error}"));
        section.healthy = false;
    }
    if config.has_unnamed_proxy() {
        section.lines.push("proxy: server.public_url is set and the server listens on loopback, so there must be a reverse proxy; name it with server.trusted_proxies = [\"127.0.0.1\"], or all of its clients share one rate limit".to_owned());
    }
    section
}

/// The search mode. Without a model search is lexical, so nothing here is a failure.
fn search(config: &Config) -> String {
    let local = match &config.search.embedder {
        embedder::Settings::None => {
            return "lexical only (BM25); search.embedder.kind is \"none\"".to_owned();
        }
        embedder::Settings::Local(local) => local,
        embedder::Settings::OpenAi(_)
        | embedder::Settings::Ollama(_)
        | embedder::Settings::Tei(_)
        | embedder::Settings::WorkersAi(_) => return "hybrid (BM25 + embeddings from an API)".to_owned(),
    };
    let folder = local.folder_in(config.search.models_with(local));
    match Folder::open(&folder) {
        Ok(model) => format!("hybrid (BM25 + embeddings by {} in {})", model.name(), folder.display()),
        Err(_) if !folder.exists() && local.folder.is_some() => {
            format!("lexical only (BM25); search.embedder.folder: no such folder: {}", folder.display())
        }
        Err(_) if !folder.exists() => {
            format!(
                "lexical only (BM25); {} is not downloaded yet; run lyceum serve or lyceum model pull",
                local.model
            )
        }
        Err(error) => format!("lexical only (BM25); {} can't be used: {error}", local.model),
    }
}
