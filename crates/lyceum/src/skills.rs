//! The skills service in this process: made of the configuration, kept fresh, and shown in registry and catalog.

use std::sync::Arc;

use lyceum_content::{Catalog, Current, SourceState, SourceStatus, skill::SandboxChoice};
use lyceum_model::SourceName;
use lyceum_sandbox::{Helper, Wanted};
use lyceum_skills::{
    Audience, Options, Rules, Scripts, Setup, Skills, State,
    analytics::{self, ServerId, Tracker},
};
use lyceum_tools::Change;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    config::{Config, SkillsService},
    sources,
};

/// The argument that makes this program the helper of the sandbox.
pub(crate) const SANDBOX_HELPER: &str = "__sandbox";

/// Makes the service, if it is on, and lets it read what is here already.
pub(crate) fn service(
    config: &Config,
    audience: Audience,
) -> Result<Option<Arc<Skills>>, lyceum_source::Error> {
    let Some(declared) = &config.skills else { return Ok(None) };
    if audience == Audience::Everyone && declared.overlay.scripts.workspace.is_some() {
        tracing::warn!("scripts.workspace is for stdio only; over HTTP it has no effect");
    }
    let skills = Skills::new(Options {
        name: declared.source.name.clone(),
        source: sources::source(config, &declared.source)?,
        rules: Rules { path: declared.path.clone(), overlay: declared.overlay.clone(), audience },
        tracker: Tracker::on(analytics::Settings {
            folder: config.data_dir.clone(),
            server_id: ServerId::of_user(&config.machine.user),
            cap_bytes: analytics::Settings::CAP_BYTES,
        }),
        scripts: Scripts::new(setup(config, declared)),
    });
    skills.load_local();
    Ok(Some(Arc::new(skills)))
}

/// Starts what keeps the service fresh and visible.
pub(crate) fn start(app: &App, skills: &Arc<Skills>) {
    let stop = app.tasks.stopping();
    // Listening begins before anything can change.
    app.tasks.spawn(show(app.clone(), skills.clone(), skills.state()));
    app.tasks.spawn(skills.clone().keep_fresh(stop.clone()));
    let _waited_for = app.tasks.spawn_to_its_end(publish(skills.clone(), stop));
}

async fn publish(skills: Arc<Skills>, stop: CancellationToken) {
    skills.publish_usage(stop).await;
}

/// Shows each new library in the lists that clients see.
async fn show(app: App, skills: Arc<Skills>, mut state: watch::Receiver<State>) {
    let mut before = state.borrow().library.clone();
    while state.changed().await.is_ok() {
        let now = state.borrow_and_update().clone();
        note(&app.catalog, skills.source_name(), &now);
        match app.registry() {
            Ok(registry) => app.mcp.hub().publish(registry),
            Err(error) => {
                tracing::error!(error.cause = %error, "the new skills can't be listed as resources");
            }
        }
        if let (Some(before), Some(now)) = (&before, &now.library) {
            for uri in now.changed_resources(before) {
                app.mcp.hub().announce(Change::Resource(uri));
            }
        }
        before = now.library;
    }
}

/// Writes the state of the source into the catalog.
pub(crate) fn note(catalog: &Current<Catalog>, name: &SourceName, state: &State) {
    let library = state.library.as_ref();
    let status = SourceStatus {
        name: name.clone(),
        state: match (&state.error, library) {
            (Some(_), _) => SourceState::Failed,
            (None, Some(_)) => SourceState::Ready,
            (None, None) => SourceState::Pending,
        },
        commit: library.and_then(|library| library.commit()).map(str::to_owned),
        synced_at: library.map(|library| library.synced_at),
        error: state.error.clone(),
    };
    sources::note(catalog, &status);
}

fn setup(config: &Config, declared: &SkillsService) -> Setup {
    Setup {
        wanted: match declared.overlay.scripts.sandbox.unwrap_or_default() {
            SandboxChoice::Auto => Wanted::Auto,
            SandboxChoice::Strict => Wanted::Strict,
            SandboxChoice::Standard => Wanted::Standard,
            SandboxChoice::None => Wanted::None,
        },
        helper: Helper::this_program(vec![SANDBOX_HELPER.to_owned()]),
        search_path: config.machine.search_path.clone(),
        temporary: config.machine.temporary.clone(),
    }
}
