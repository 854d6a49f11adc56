//! `lyceum doctor`: looks at everything that is configured, as the server would, and says what it finds.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use lyceum_content::skill::{NetworkChoice, Severity, Workspace};
use lyceum_knowledge::SyncError;
use lyceum_search::{embedder, model::Folder};
use lyceum_skills::{Audience, Library, Skills};
use lyceum_source::Source;
use lyceum_store::documents::FileState;
use serde::Deserialize;

use crate::{
    config::{AuthService, Config, Overrides, Purpose},
    knowledge, skills,
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
    let mut healthy = runtime.block_on(knowledge(out, &config))?;
    writeln!(out, "search: {}", search(&config))?;
    healthy &= runtime.block_on(sign_in(out, &config))?;
    match skills::service(&config, Audience::OnePerson)? {
        Some(skills) => healthy &= runtime.block_on(examine(out, &config, &skills))?,
        None => {
            writeln!(out, "skills: off; write [skills] in lyceum.toml, or set SKILLS_DIR or SKILLS_REPO")?;
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

/// Brings the knowledge base up to date where nobody else does, and names each file that is not as it should be.
async fn knowledge(out: &mut impl Write, config: &Config) -> anyhow::Result<bool> {
    let Some(knowledge) = knowledge::service(config)? else {
        writeln!(out, "knowledge: off; write [knowledge] in lyceum.toml")?;
        return Ok(true);
    };
    writeln!(out, "source {}: {}", knowledge.source_name(), place(knowledge.source()))?;
    let (mut healthy, mut is_served) = (true, false);
    match knowledge.sync_once(|_| ()).await {
        Ok(_) => {}
        Err(SyncError::Elsewhere) => {
            is_served = true;
            writeln!(out, "  kept in sync by the server that is running")?;
        }
        Err(error) => {
            healthy = false;
            writeln!(out, "  can't be brought up to date: {error}")?;
        }
    }
    let shown = knowledge.shown();
    let commit = shown.version.as_ref().map(|commit| format!(" at commit {commit}")).unwrap_or_default();
    let files = &shown.files;
    writeln!(out, "knowledge: {} of {} files are served{commit}", files.published, files.total())?;
    for file in knowledge.files().await? {
        let faults: Vec<Fault> =
            file.faults.as_deref().map(serde_json::from_str).transpose()?.unwrap_or_default();
        if let Some(reason) = &file.reason {
            writeln!(out, "  {}  {}: {reason}", file.state.as_str(), file.path)?;
        }
        // Whoever keeps a document to themselves need not be told what is wrong with it, unless that is why it is kept.
        let matters = |fault: &&Fault| {
            file.state == FileState::Published || ["publish", "draft"].contains(&fault.field.as_str())
        };
        for Fault { field, line, message } in faults.iter().filter(matters) {
            writeln!(out, "  warning  {}:{line}: {field}: {message}", file.path)?;
        }
    }
    let (unshelved, failures) = knowledge.unshelved().await?;
    for failure in &failures {
        writeln!(out, "  not stored  {}: {}", failure.key, failure.error)?;
    }
    // What a server that runs has not stored yet it is about to, unless it failed to.
    let is_stored = unshelved == 0 || (is_served && failures.is_empty());
    Ok(healthy && is_stored)
}

/// Something in the frontmatter that is not as its type has it, as it is kept.
#[derive(Deserialize)]
struct Fault {
    field: String,
    line: usize,
    message: String,
}

/// Where a source is, without what may open it.
fn place(source: &Source) -> String {
    match source {
        Source::Folder(folder) => folder.root.display().to_string(),
        Source::Repository(repository) => format!("{}, branch {}", repository.url(), repository.branch()),
        Source::Bundled(_) => "bundled with lyceum".to_owned(),
    }
}

async fn examine(out: &mut impl Write, config: &Config, skills: &Skills) -> io::Result<bool> {
    skills.refresh_in_turn().await;
    let state = skills.state().borrow().clone();
    writeln!(out, "source {}: {}", skills.source_name(), place(skills.source()))?;
    if let Some(error) = &state.error {
        writeln!(out, "  can't be refreshed: {error}")?;
    }
    let mut healthy = state.error.is_none();
    if let Some(library) = &state.library {
        describe(out, library)?;
        healthy &= examine_scripts(out, config, library, skills).await?;
    }
    Ok(healthy)
}

fn describe(out: &mut impl Write, library: &Library) -> io::Result<()> {
    let commit = library.commit().map(|commit| format!(" at commit {commit}")).unwrap_or_default();
    writeln!(out, "skills: {}{commit}", library.index.skills().len())?;
    for finding in library.findings() {
        let word = match finding.severity {
            Severity::Warning => "warning",
            Severity::Skipped => "skipped",
            Severity::Ignored => "ignored",
        };
        writeln!(out, "  {word}  {}: {}", finding.file, finding.message)?;
    }
    Ok(())
}

async fn examine_scripts(
    out: &mut impl Write,
    config: &Config,
    library: &Library,
    skills: &Skills,
) -> io::Result<bool> {
    // Over HTTP only the configuration turns them on; the settings of the library are those of stdio.
    let declared = config.skills.as_ref();
    let over_http = declared.is_some_and(|skills| skills.overlay.scripts.enabled == Some(true));
    let on = |on: bool| if on { "on" } else { "off" };
    let over_stdio = library.settings.scripts.enabled;
    write!(out, "scripts: {} over stdio, {} over HTTP", on(over_stdio), on(over_http))?;
    if !over_stdio && !over_http {
        writeln!(out)?;
        return Ok(true);
    }
    let scripts = skills.scripts();
    match (scripts.level().await, scripts.memory_limit().await) {
        (Ok(level), Ok(memory)) => {
            writeln!(out, "; sandbox {level}; memory limited {memory}")?;
            let over_http = declared.and_then(|skills| skills.overlay.scripts.network);
            writeln!(
                out,
                "  network of scripts that declare one: {} over stdio, {} over HTTP (skills.scripts.network)",
                library.settings.scripts.network.as_str(),
                over_http.unwrap_or(NetworkChoice::None).as_str()
            )?;
            if let Some(Workspace { path, access }) = &library.settings.scripts.workspace {
                let (path, access) = (path.display(), access.as_str());
                writeln!(
                    out,
                    "  workspace of scripts: {path}, to {access}, over stdio only (skills.scripts.workspace)"
                )?;
            }
            Ok(true)
        }
        (Err(reason), _) | (_, Err(reason)) => {
            writeln!(out, "; they can't be run: {reason}")?;
            Ok(false)
        }
    }
}
