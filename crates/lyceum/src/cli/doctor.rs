//! `lyceum doctor`: checks everything that is configured, as the server would.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use lyceum_model::Domain;
use lyceum_models::{embedder, model::Folder};
use lyceum_skills::Audience;
use tokio::runtime::Runtime;

use crate::{
    app::public_url,
    config::{Config, Overrides, Purpose},
    service::{Examination, Service},
    services::{KINDS, Services},
};

/// Says what works and what does not; fails when something does not work at all.
pub(super) fn doctor(overrides: &Overrides) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match print(&mut out, overrides) {
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

fn print(out: &mut impl Write, overrides: &Overrides) -> anyhow::Result<ExitCode> {
    writeln!(out, "lyceum {}", env!("CARGO_PKG_VERSION"))?;
    let config = match Config::load(overrides, Purpose::Once) {
        Ok(config) => config,
        Err(faults) => {
            writeln!(out, "configuration: {faults}")?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let file = config.file.as_ref().map_or_else(|| "no file".to_owned(), ToString::to_string);
    writeln!(out, "configuration: good ({file}); data in {}", config.data_dir.display())?;
    if config.has_unnamed_proxy() {
        writeln!(
            out,
            "proxy: server.public_url is set and the server listens on loopback, so there must be a reverse proxy; name it with server.trusted_proxies = [\"127.0.0.1\"], or all of its clients share one rate limit"
        )?;
    }
    let runtime = Runtime::new()?;
    writeln!(out, "search: {}", search(&config))?;
    let services = Services::make(&config, Audience::OnePerson)?;
    let issuer = public_url(&config, config.listen);
    let mut healthy = match services.sign_in(&config, &issuer, &services.offers(&config)?)? {
        None => {
            writeln!(out, "sign-in: off; everyone who can reach the server may call everything")?;
            true
        }
        Some(sign_in) => print_examination(out, &runtime, &*sign_in)?,
    };
    for kind in KINDS {
        let declared = config.services.iter().filter(|declared| declared.kind.table == kind.table);
        let names: Vec<&Domain> = declared.map(|declared| &declared.name).collect();
        if names.is_empty() {
            writeln!(out, "{}: off; {}", kind.table, kind.hint)?;
        }
        for service in services.iter().filter(|service| names.contains(&service.name())) {
            healthy &= print_examination(out, &runtime, &**service)?;
        }
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints what a service says of itself, and returns whether all of it works.
fn print_examination(out: &mut impl Write, runtime: &Runtime, service: &dyn Service) -> anyhow::Result<bool> {
    let Examination { text, is_well } = runtime.block_on(service.examine())?;
    out.write_all(text.as_bytes())?;
    Ok(is_well)
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
    let folder = local.folder_in(&config.search.models);
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
