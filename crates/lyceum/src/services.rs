//! The services of this process: the list of kinds, and loops over all services.

use std::sync::Arc;

use lyceum_content::SourceStatus;
use lyceum_knowledge::{KnowledgeBases, NamedBase};
use lyceum_model::{Access, Caller, Domain, MCP_READ, Right, Tier};
use lyceum_skills::Audience;
use lyceum_tools::{Registry, RegistryError, ServerFacts, ServerInfo, mcp::Instructions, permit};

use crate::{
    app::StartError,
    auth::{self, SignIn},
    config::{Config, Source},
    gateway, knowledge, library,
    search::Indexes,
    service::{Kind, Service, Workshop},
    skills,
    storage::Storage,
};

/// All kinds of services, in documentation order.
pub static KINDS: [&Kind; 4] = [&knowledge::KIND, &skills::KIND, &library::KIND, &gateway::KIND];

/// The service of the built-in tools.
pub(crate) const SERVER: Domain = Domain::from_static("server");

/// The enabled services. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Services(Arc<[Enabled]>);

/// A service, with its access rule, which is asked for on most requests.
struct Enabled {
    service: Arc<dyn Service>,
    access: Access,
}

impl Enabled {
    fn is_visible_to(&self, caller: &Caller) -> bool {
        permit(caller, &self.access).is_ok()
    }
}

impl Services {
    /// Builds the configured services.
    pub(crate) fn make(config: &Config, audience: Audience, storage: &Storage) -> anyhow::Result<Self> {
        let indexes = Indexes::new(config, storage);
        let workshop = Workshop { config, audience, indexes: &indexes, storage };
        let mut services: Vec<Arc<dyn Service>> = storage.service(config).into_iter().collect();
        for declared in &config.services {
            services.extend((declared.kind.make)(declared, &workshop)?);
        }
        Ok(services.into_iter().collect())
    }

    /// No services, for a registry that was built elsewhere.
    pub(crate) fn none() -> Self {
        Self(Arc::new([]))
    }

    /// Iterates over the services.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<dyn Service>> {
        self.0.iter().map(|enabled| &enabled.service)
    }

    /// The offers of all services, and the built-in tools.
    pub(crate) fn offers(&self, config: &Config) -> Result<Vec<(Domain, Registry)>, RegistryError> {
        let mut offers = Vec::new();
        for service in self.iter() {
            offers.push((service.name().clone(), service.offer()?));
        }
        let names = offers.iter().filter(|(_, offer)| offer.services().next().is_some());
        let names: Vec<Domain> = std::iter::once(SERVER).chain(names.map(|(name, _)| name.clone())).collect();
        let (named, services, declared) = (self.clone(), self.clone(), config.clone());
        let all = self.clone();
        let facts = ServerFacts {
            version: env!("CARGO_PKG_VERSION"),
            services: Box::new(move |caller| {
                let visible = names.iter().filter(|name| named.shows(name, caller));
                visible.map(Domain::to_string).collect()
            }),
            sources: Box::new(move |caller| services.sources(&declared, caller)),
            upstreams: Box::new(move |caller| {
                all.visible_to(caller).filter_map(|service| service.upstream()).collect()
            }),
        };
        let mut builder = Registry::builder().tool::<ServerInfo>(&SERVER, &Arc::new(facts))?;
        if let Some(bases) = self.knowledge_bases() {
            builder = lyceum_knowledge::register_everything(builder, &SERVER, &Arc::new(bases))?;
        }
        offers.push((SERVER, builder.build()));
        Ok(offers)
    }

    /// The knowledge bases that can be searched together, if there are several.
    fn knowledge_bases(&self) -> Option<KnowledgeBases> {
        let bases: Vec<NamedBase> = self.iter().filter_map(|service| service.searched()).collect();
        (bases.len() > 1).then_some(KnowledgeBases(bases))
    }

    /// Sign-in for these services, if the configuration asks for it. Tokens can be for each service with an endpoint.
    pub(crate) fn sign_in(
        &self,
        config: &Config,
        issuer: &str,
        offers: &[(Domain, Registry)],
        storage: &Storage,
    ) -> Result<Option<Arc<SignIn>>, StartError> {
        // A service that offers nothing, such as an index, has no endpoint.
        let with_endpoint = offers.iter().filter(|(_, offer)| offer.services().next().is_some());
        let names = with_endpoint.map(|(name, _)| name.as_str());
        auth::service(config, storage, issuer, names, self.scopes(config))
    }

    /// The same services and one more.
    pub(crate) fn and(&self, service: Arc<dyn Service>) -> Self {
        self.iter().cloned().chain([service]).collect()
    }

    /// The services that a caller may know of.
    pub(crate) fn visible_to(&self, caller: &Caller) -> impl Iterator<Item = &Arc<dyn Service>> {
        let visible = self.0.iter().filter(|enabled| enabled.is_visible_to(caller));
        visible.map(|enabled| &enabled.service)
    }

    /// Whether a caller may know of the service with that name. Everyone may know of the built-in tools.
    pub(crate) fn shows(&self, name: &Domain, caller: &Caller) -> bool {
        self.0.iter().all(|enabled| enabled.service.name() != name || enabled.is_visible_to(caller))
    }

    /// The sources in configuration order, with their freshness, except those of services that the caller may not know
    /// of.
    pub(crate) fn sources(&self, config: &Config, caller: &Caller) -> Vec<SourceStatus> {
        let of_service = |enabled: &Enabled| {
            let is_visible = enabled.is_visible_to(caller);
            enabled.service.sources().into_iter().map(move |status| (is_visible, status))
        };
        let mut known: Vec<(bool, SourceStatus)> = self.0.iter().flat_map(of_service).collect();
        let status = |Source { name, .. }: &Source| {
            match known.iter().position(|(is_visible, status)| *is_visible && status.name == *name) {
                Some(at) => Some(known.swap_remove(at).1),
                None if known.iter().any(|(_, status)| status.name == *name) => None,
                // A source that no service uses is not hidden by one.
                None => Some(SourceStatus::pending(name.clone())),
            }
        };
        config.sources.iter().filter_map(status).collect()
    }

    /// All scopes: `mcp:read`, those of every kind, and those that the services add.
    pub(crate) fn scopes(&self, config: &Config) -> Vec<Right> {
        let least = Right::new(MCP_READ, Tier::Public, "Read and search what is open to everyone");
        let declared = config.services.iter().map(|declared| declared.kind);
        let of_kinds = KINDS.into_iter().chain(declared).flat_map(|kind| (kind.scopes)());
        let of_services = self.iter().flat_map(|service| service.scopes());
        let mut scopes = vec![least];
        for right in of_kinds.chain(of_services) {
            if scopes.iter().all(|known| known.scope != right.scope) {
                scopes.push(right);
            }
        }
        scopes
    }

    /// The instructions for models, by service.
    pub(crate) fn instructions(&self) -> Vec<Instructions> {
        let general = "Knowledge kept in Git repositories. \
            Call server_info for the services, the sources and their last sync.";
        let together = self
            .knowledge_bases()
            .map(|_| " Call search_everything for a question that any of the knowledge bases may answer.");
        let general = general.to_owned() + together.unwrap_or_default();
        let general = Instructions::new(Access::public(SERVER), move || general.clone());
        let of = |enabled: &Enabled| {
            let service = enabled.service.clone();
            Instructions::new(enabled.access.clone(), move || service.instructions())
        };
        std::iter::once(general).chain(self.0.iter().map(of)).collect()
    }
}

impl FromIterator<Arc<dyn Service>> for Services {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Service>>>(services: I) -> Self {
        let enabled = |service: Arc<dyn Service>| Enabled { access: service.access(), service };
        Self(services.into_iter().map(enabled).collect())
    }
}
