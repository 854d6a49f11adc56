//! The skills service, built from the configuration.

mod examine;
mod inventory;

use std::sync::Arc;

use anyhow::Context as _;
use futures::future::BoxFuture;
use lyceum_content::{SourceState, SourceStatus, skill::SandboxChoice};
use lyceum_model::{Domain, RelPath, Right, Scope, Tier};
use lyceum_models::embedder;
use lyceum_sandbox::{Helper, LevelChoice};
use lyceum_search::{Connect, Search};
use lyceum_skills::{
    Audience, Options, Rules, Scripts, Setup, Skills, State,
    analytics::{self, ServerId, Tracker},
};
use lyceum_tools::{Change, Prefix, Registry, RegistryError};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    config::{self, Config, Location, Repository, SkillsService},
    search,
    service::{Context, Declared, Delivery, Examination, Health, Inventory, Kind, Service, Workshop},
    sources,
    storage::Storage,
    tasks::Tasks,
};

/// The argument that starts this program as the sandbox helper.
pub(crate) const SANDBOX_HELPER: &str = "__sandbox";

/// The kind: `[skills]`.
pub(crate) static KIND: Kind = Kind {
    table: "skills",
    hint: "add a [skills] table to lyceum.toml, or set SKILLS_DIR or SKILLS_REPO",
    schema: |generator| generator.subschema_for::<config::raw::Skills>(),
    scopes: || {
        let run = Scope::from_static("skills:run");
        vec![Right::new(run, Tier::Vibecoder, "Run scripts of skills on the server")]
    },
    check: config::skills::check,
    make: |declared, workshop| {
        Ok(SkillsOffer::make(declared, workshop)?.into_iter().map(|one| one as _).collect())
    },
};

/// A set of skills as a service.
pub(crate) struct SkillsOffer {
    name: Domain,
    prefix: Prefix,
    declared: SkillsService,
    skills: Arc<Skills>,
    /// Feeds them to the search index of a knowledge base, if there is one.
    index: Option<Arc<Search>>,
    /// The embedding model for skills without keywords, if a local one is configured.
    embedder: Option<(Connect, String)>,
    /// Starts a refresh on a push; set when the service starts.
    tasks: std::sync::OnceLock<Tasks>,
}

impl SkillsOffer {
    fn make(declared: &Declared, workshop: &Workshop<'_>) -> anyhow::Result<Option<Arc<Self>>> {
        let Some(settings) = declared.settings::<SkillsService>() else { return Ok(None) };
        Ok(Some(Arc::new(Self {
            name: declared.name.clone(),
            prefix: declared.prefix.clone(),
            declared: settings.clone(),
            skills: open(workshop.config, workshop.storage, &declared.name, settings, workshop.audience)?,
            index: workshop
                .indexes
                .first()
                .filter(|_| is_first_of_source(workshop.config, declared))
                .cloned(),
            // The thresholds of ranking are for the built-in model; another one would be asked in vain.
            embedder: (workshop.indexes.embedder(workshop.config))
                .filter(|_| matches!(workshop.config.search.embedder, embedder::Settings::Local(_))),
            tasks: std::sync::OnceLock::new(),
        })))
    }

    async fn scripts(&self, enabled: bool) -> Value {
        if !enabled {
            return json!({ "enabled": false });
        }
        match self.skills.scripts().level().await {
            Ok(level) => json!({ "enabled": true, "sandbox": level.as_str() }),
            Err(error) => json!({ "enabled": true, "error": error }),
        }
    }
}

/// Whether no earlier service reads the same source: pages are indexed by source, and one service feeds each.
pub(crate) fn is_first_of_source(config: &Config, declared: &Declared) -> bool {
    let source = |declared: &Declared| Some(declared.settings::<SkillsService>()?.source.name.clone());
    let first = config.services.iter().find(|other| source(other) == source(declared));
    first.is_none_or(|first| first.name == declared.name)
}

/// Opens the skills of a table as of their last refresh.
pub(crate) fn open(
    config: &Config,
    storage: &Storage,
    name: &Domain,
    declared: &SkillsService,
    audience: Audience,
) -> anyhow::Result<Arc<Skills>> {
    if audience == Audience::Everyone && declared.overlay.scripts.workspace.is_some() {
        tracing::warn!("scripts.workspace is for stdio only; over HTTP it has no effect");
    }
    let is_first = name.as_str() == KIND.table;
    // Each service needs its own files.
    let data_dir =
        if is_first { config.data_dir.clone() } else { config.data_dir.join("skills").join(name.as_str()) };
    let shared_name = || format!("{name}.{}", sources::folder_name(&declared.source));
    let skills = Skills::new(Options {
        shared: storage.db().map(|db| (db.clone(), shared_name())),
        vectors: Some(data_dir.join("skill-vectors.bin")),
        name: declared.source.name.clone(),
        source: sources::source(config, &declared.source).context("a source can't be used")?,
        rules: Rules {
            path: declared.path.clone(),
            overlay: declared.overlay.clone(),
            audience,
            address: RelPath::parse(name.as_str()).ok().filter(|_| !is_first),
        },
        tracker: Tracker::on(analytics::Settings {
            folder: data_dir,
            server_id: ServerId::of_user(&config.machine.user),
            cap_bytes: analytics::Settings::DEFAULT_MAX_BUFFER_BYTES,
        }),
        scripts: Scripts::new(setup(config, declared)),
    })?;
    skills.load_local();
    Ok(Arc::new(skills))
}

impl Service for SkillsOffer {
    fn name(&self) -> &Domain {
        &self.name
    }

    fn instructions(&self) -> String {
        let get_skill = self.prefix.of("get_skill");
        let about = match self.skills.about() {
            about if about.is_empty() => about,
            about => format!(" {about}"),
        };
        format!(
            "Before you start on a task, call {get_skill} with a short description of it: \
             the team's rules, templates and scripts for such tasks are there.{about}"
        )
    }

    fn offer(&self) -> Result<Registry, RegistryError> {
        let builder = Registry::builder().prefixed(&self.prefix);
        Ok(lyceum_skills::register(builder, &self.name, &self.skills)?.build())
    }

    fn sources(&self) -> Vec<SourceStatus> {
        let state = self.skills.current_state();
        let skill_set = state.skill_set.as_ref();
        vec![SourceStatus {
            name: self.skills.source_name().clone(),
            state: match (&state.error, skill_set) {
                (Some(_), _) => SourceState::Failed,
                (None, Some(_)) => SourceState::Ready,
                (None, None) => SourceState::Pending,
            },
            commit: skill_set.and_then(|skill_set| skill_set.commit()).map(str::to_owned),
            synced_at: skill_set.map(|skill_set| skill_set.synced_at),
            error: state.error.clone(),
        }]
    }

    fn start(self: Arc<Self>, context: &Context) {
        let stop = context.stopping();
        let _first = self.tasks.set(context.tasks.clone());
        // Subscribe before anything can change.
        context.spawn(show(self.clone(), context.clone(), self.skills.state()));
        // Shutdown waits until it has given up its lease.
        let _waited_for = context.tasks.spawn_to_its_end(self.skills.clone().keep_fresh(stop.clone()));
        if let Some(index) = &self.index {
            let searched = search::skills::keep_searched(self.skills.clone(), index.clone(), stop.clone());
            context.spawn(searched);
        }
        if let Some((connect, settings)) = self.embedder.clone() {
            context.spawn(self.skills.clone().keep_embedded(connect, settings, stop.clone()));
        }
        let skills = self.skills.clone();
        let publish = async move { skills.publish_usage(stop).await };
        let _waited_for = context.tasks.spawn_to_its_end(publish);
    }

    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(async {
            let state = self.skills.current_state();
            let mut health = Health { is_well: true, ..Health::default() };
            match (&state.skill_set, &state.error) {
                (Some(skill_set), _) => {
                    let skills = skill_set.index.skills().len();
                    health.detail = Some(json!({ "skills": skills, "findings": skill_set.findings().len() }));
                    let scripts = self.scripts(skill_set.settings.scripts.enabled).await;
                    let ranking = self.skills.ranking().map(|mode| ("ranking".to_owned(), json!(mode)));
                    health.readiness = [("scripts".to_owned(), scripts)].into_iter().chain(ranking).collect();
                }
                (None, Some(error)) => {
                    health.waiting_for = Some(format!("cannot read the skills: {error}"));
                }
                (None, None) => health.waiting_for = Some("the skills are being fetched".to_owned()),
            }
            health
        })
    }

    fn about(&self, url: &str) -> String {
        let state = self.skills.current_state();
        let Some(skill_set) = state.skill_set else {
            return format!(
                "\nThe skills {} are being fetched; {url}/readyz says when they are here.\n",
                self.name
            );
        };
        let (skills, findings) = (skill_set.index.skills().len(), skill_set.findings().len());
        let commit = skill_set.commit().map(|commit| format!(", commit {commit}")).unwrap_or_default();
        let findings = match findings {
            0 => String::new(),
            findings => format!("; {findings} findings, listed by lyceum doctor"),
        };
        format!("\nSkills {}: {skills}{commit}{findings}\n", self.name)
    }

    fn inventory(&self) -> BoxFuture<'_, Option<Inventory>> {
        Box::pin(async { Some(inventory::inventory(&self.skills).await) })
    }

    fn examine(&self) -> BoxFuture<'_, anyhow::Result<Examination>> {
        Box::pin(async { Ok(examine::examine(&self.declared, &self.skills).await?) })
    }

    fn pushed<'a>(
        &'a self,
        repositories: &'a [&'a Repository],
        _: Option<&'a str>,
    ) -> BoxFuture<'a, anyhow::Result<Delivery>> {
        let is_ours = matches!(&self.declared.source.location, Location::Repository(one) if repositories.contains(&one));
        if let Some(tasks) = self.tasks.get().filter(|_| is_ours) {
            let skills = self.skills.clone();
            // Nothing to persist: every start refreshes anyway.
            tasks.spawn(async move { drop(skills.refresh_in_turn().await) });
        }
        let delivery = if is_ours { Delivery::Accepted } else { Delivery::NotOurs };
        Box::pin(async move { Ok(delivery) })
    }
}

/// Publishes the offer of each new skill set.
async fn show(service: Arc<SkillsOffer>, context: Context, mut state: watch::Receiver<State>) {
    let mut before = state.borrow().skill_set.clone();
    while state.changed().await.is_ok() {
        let now = state.borrow_and_update().skill_set.clone();
        context.publish(&*service);
        if let (Some(before), Some(now)) = (&before, &now) {
            for uri in now.changed_resources(before) {
                context.announce(Change::Resource(uri));
            }
        }
        before = now;
    }
}

fn setup(config: &Config, declared: &SkillsService) -> Setup {
    Setup {
        wanted: match declared.overlay.scripts.sandbox.unwrap_or_default() {
            SandboxChoice::Auto => LevelChoice::Auto,
            SandboxChoice::Strict => LevelChoice::Strict,
            SandboxChoice::Standard => LevelChoice::Standard,
            SandboxChoice::None => LevelChoice::None,
        },
        helper: Helper::this_program(vec![SANDBOX_HELPER.to_owned()]),
        search_path: config.machine.search_path.clone(),
        temporary: config.machine.temporary.clone(),
    }
}
