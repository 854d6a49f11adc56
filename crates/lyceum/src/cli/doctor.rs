//! `lyceum doctor`: looks at everything that is configured, as the server would, and says what it finds.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use lyceum_model::Domain;
use lyceum_models::{embedder, model::Folder};
use lyceum_skills::Audience;

use crate::{
    config::{AuthService, Config, Overrides, Purpose},
    service::Examination,
    services::{KINDS, Services},
};

/// Says what works and what does not; fails when something does not work at all.
pub(super) fn doctor(overrides: &Overrides) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match say(&mut out, overrides) {
        // Whoever reads has seen enough.
        Err(error)
            if error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) =>
        {
            Ok(ExitCode::SUCCESS)
        }
        said => said,
    }
}

fn say(out: &mut impl Write, overrides: &Overrides) -> anyhow::Result<ExitCode> {
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
            "proxy: server.public_url is set and the server listens on loopback, so a reverse proxy is before it; name it with server.trusted_proxies = [\"127.0.0.1\"], or all of its clients share one rate limit"
        )?;
    }
    let runtime = tokio::runtime::Runtime::new()?;
    writeln!(out, "search: {}", search(&config))?;
    let mut healthy = runtime.block_on(sign_in(out, &config))?;
    let services = Services::make(&config, Audience::OnePerson)?;
    for kind in KINDS {
        let declared = config.services.iter().filter(|declared| declared.kind.table == kind.table);
        let names: Vec<&Domain> = declared.map(|declared| &declared.name).collect();
        if names.is_empty() {
            writeln!(out, "{}: off; {}", kind.table, kind.hint)?;
        }
        for service in services.iter().filter(|service| names.contains(&service.name())) {
            let Examination { text, is_well } = runtime.block_on(service.examine())?;
            out.write_all(text.as_bytes())?;
            healthy &= is_well;
        }
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How things are found. Without its model search works too, so that nothing of this is a failure.
fn search(config: &Config) -> String {
    let local = match &config.search.embedder {
        embedder::Settings::None => return "by words; search.embedder.kind is \"none\"".to_owned(),
        embedder::Settings::Local(local) => local,
        embedder::Settings::OpenAi(_)
        | embedder::Settings::Ollama(_)
        | embedder::Settings::Tei(_)
        | embedder::Settings::WorkersAi(_) => return "by words, and by meaning with an endpoint".to_owned(),
    };
    let folder = local.folder_in(&config.search.models);
    match Folder::open(&folder) {
        Ok(model) => format!("by words, and by meaning with {} in {}", model.name(), folder.display()),
        Err(_) if !folder.exists() && local.folder.is_some() => {
            format!("by words; search.embedder.folder is {}, and there is no such folder", folder.display())
        }
        Err(_) if !folder.exists() => {
            format!("by words; {} is not here yet, lyceum serve or lyceum model pull fetches it", local.model)
        }
        Err(error) => format!("by words; {} can't be used: {error}", local.model),
    }
}

/// Who may call, and whether the chains that say so can be read.
async fn sign_in(out: &mut impl Write, config: &Config) -> io::Result<bool> {
    let AuthService::Gated(oauth) = &config.auth else {
        writeln!(out, "sign-in: off; everyone who reaches the server may do everything")?;
        return Ok(true);
    };
    let strangers = if oauth.anonymous { "what is public is open to strangers" } else { "everyone signs in" };
    writeln!(out, "sign-in: on; {strangers}")?;
    for warning in oauth.warnings() {
        writeln!(out, "  warning  {warning}")?;
    }
    let mut healthy = true;
    for chain in &oauth.chains {
        match chain.reach().await {
            Ok(()) => writeln!(out, "  chain {} answers", chain.id())?,
            Err(error) => {
                healthy = false;
                writeln!(out, "  {error}")?;
            }
        }
    }
    Ok(healthy)
}
