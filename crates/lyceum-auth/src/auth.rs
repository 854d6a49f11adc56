//! Use cases of sign-in, called by the HTTP layer.

mod account;
mod admit;
mod authorize;
mod exchange;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use alloy_primitives::{Address, hex};
use jiff::{SignedDuration, Timestamp};
use lyceum_model::{Caller, Rights, Tier};
use lyceum_net::Guard;
use lyceum_store::{
    Db, DbError, Tx, audit, grants,
    kv::{self, Namespace},
    rate_limits,
};
use quick_cache::sync::Cache;

pub use account::{Account, ClientGrant, end_grants};
pub use admit::AdmissionError;
pub use authorize::{SignInFault, Signature, Visitor};
pub use exchange::Credentials;

use crate::{
    audit::Event,
    chain::Chain,
    documents::Documents,
    ens::Names,
    github::GitHub,
    hats::Hats,
    oauth::{
        client::Client,
        metadata::{ResourceMetadata, ServerMetadata},
    },
    pat::Pats,
    roles::Roles,
    seal::Key,
    siwe::SiweDomain,
    subject::Subject,
    token::TokenHash,
};
use admit::CachedToken;

/// Maximum number of cached tokens; a full cache evicts early.
const TOKEN_CACHE_CAPACITY: usize = 150_000;

/// How long a transaction of a request may take.
const WRITE_TIMEOUT: Duration = Duration::from_secs(15);

/// Retention and maximum size of the audit log.
const AUDIT_RETENTION: SignedDuration = SignedDuration::from_hours(365 * 24);
const MAX_AUDIT_ROWS: i64 = 1_000_000;

/// Ids of actions that are in the audit log.
const RECORDED_ACTIONS: Namespace = Namespace { name: "audited-action", ttl_seconds: None };

/// Settings of sign-in.
#[derive(Debug)]
pub struct Settings {
    /// Public base URL of this server, such as `https://mcp.example.org`.
    pub issuer: String,
    /// Resources that tokens can be bound to; the first is the default.
    pub resources: Vec<String>,
    /// Secret key of this deployment.
    pub key: Key,
    /// Clients from the configuration.
    pub clients: Vec<Client>,
    /// Chains that accounts can sign in on.
    pub chains: Vec<Arc<Chain>>,
    /// Hats that grant tiers, and the id of their chain.
    pub hats: Option<(u64, Hats)>,
    /// Chain id and address of the ENS universal resolver.
    pub names: Option<(u64, Address)>,
    /// GitHub, if users can sign in there or with GitHub tokens.
    pub github: Option<GitHub>,
    /// Whether GitHub tokens are accepted as bearer tokens.
    pub takes_pats: bool,
    /// TTL of cached tiers.
    pub roles_good_for: SignedDuration,
    /// API keys from the configuration.
    pub keys: Vec<ApiKey>,
    /// SSRF guard for client metadata documents and ENS gateways.
    pub guard: Guard,
    /// Whether requests without a token may use what is public.
    pub anonymous: bool,
    /// All scopes.
    pub rights: Rights,
}

/// An API key from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Name, for the audit log.
    pub name: String,
    /// Hash of the key.
    pub hash: [u8; 32],
    /// Tier of its holder.
    pub tier: Tier,
}

impl ApiKey {
    /// Subject of its holder.
    pub fn subject(&self) -> Subject {
        let mark = hex::encode(self.hash.first_chunk::<4>().unwrap_or(&[0; 4]));
        Subject::Key { name: self.name.clone(), mark }
    }
}

/// Sign-in, tokens and tiers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Auth(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    issuer: String,
    resources: Vec<String>,
    key: Key,
    clients: Vec<Client>,
    chains: BTreeMap<u64, Arc<Chain>>,
    siwe_domain: SiweDomain,
    documents: Documents,
    roles: Roles,
    names: Option<Names>,
    github: Option<GitHub>,
    pats: Option<Pats>,
    keys: BTreeMap<[u8; 32], ApiKey>,
    anonymous: bool,
    /// Caller of requests without a token.
    anonymous_caller: Arc<Caller>,
    rights: Rights,
    token_cache: Cache<TokenHash, Arc<CachedToken>>,
}

impl Auth {
    /// Creates the service on its own database.
    pub fn new(db: Db, settings: Settings) -> Self {
        let chains: BTreeMap<u64, Arc<Chain>> =
            settings.chains.into_iter().map(|chain| (chain.id(), chain)).collect();
        let hats = settings.hats.and_then(|(id, hats)| Some((chains.get(&id)?.clone(), hats)));
        let names = settings.names.and_then(|(id, resolver)| {
            Some(Names::new(chains.get(&id)?.clone(), resolver, settings.guard.clone()))
        });
        let tiers = settings.keys.iter().map(|key| (key.subject(), key.tier)).collect();
        let domain = settings.issuer.split_once("://").map_or("", |(_, domain)| domain).to_owned();
        let pats = settings.github.clone().filter(|_| settings.takes_pats);
        let pats = pats.map(|github| Pats::new(github, settings.roles_good_for, settings.key.clone()));
        let siwe_domain =
            SiweDomain { domain, uri: settings.issuer.clone(), chains: chains.keys().copied().collect() };
        Self(Arc::new(Inner {
            db,
            issuer: settings.issuer,
            resources: settings.resources,
            key: settings.key,
            clients: settings.clients,
            chains,
            siwe_domain,
            documents: Documents::new(settings.guard),
            roles: Roles::new(hats, settings.github.clone(), tiers, settings.roles_good_for),
            names,
            pats,
            github: settings.github,
            keys: settings.keys.into_iter().map(|key| (key.hash, key)).collect(),
            anonymous: settings.anonymous,
            anonymous_caller: Arc::new(Caller::anonymous()),
            rights: settings.rights,
            token_cache: Cache::new(TOKEN_CACHE_CAPACITY),
        }))
    }

    pub(crate) fn key(&self) -> &Key {
        &self.0.key
    }

    /// The issuer: base URL of this server.
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// Supported chains; empty if accounts can't sign in.
    pub fn chains(&self) -> &[u64] {
        &self.0.siwe_domain.chains
    }

    /// Origin of GitHub, if users can sign in there.
    pub fn github(&self) -> Option<String> {
        self.0.github.as_ref().map(GitHub::origin)
    }

    /// Whether users can sign in with an API key.
    pub fn has_keys(&self) -> bool {
        !self.0.keys.is_empty()
    }

    /// Whether a client is from the configuration.
    pub fn vouches_for(&self, client: &str) -> bool {
        self.0.clients.iter().any(|known| known.id == client)
    }

    /// All scopes.
    pub fn rights(&self) -> &Rights {
        &self.0.rights
    }

    /// Authorization server metadata.
    pub fn metadata(&self) -> ServerMetadata {
        ServerMetadata::of(&self.0.issuer, &self.0.rights)
    }

    /// Protected resource metadata; `None` for an unknown resource.
    pub fn resource_metadata(&self, path: &str) -> Option<ResourceMetadata> {
        let resource = format!("{}{path}", self.0.issuer);
        let is_ours = self.0.resources.contains(&resource);
        is_ours.then(|| ResourceMetadata::of(&self.0.issuer, resource, &self.0.rights))
    }

    /// Runs `work` in its own transaction, for a request that can't wait for a database that is away.
    async fn write<T: Send + 'static>(
        &self,
        about: impl Into<String>,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let written = tokio::time::timeout(WRITE_TIMEOUT, self.0.db.write(about, work)).await;
        written.unwrap_or(Err(DbError::Unknown))
    }

    /// Appends an event to the audit log.
    pub async fn record(&self, event: Event, now: Timestamp) -> Result<(), DbError> {
        self.0.db.write("audit", move |tx| event.write(tx, now)).await
    }

    /// Appends an event about an action to the audit log, unless that was done before.
    pub async fn record_once(&self, action: String, event: Event, now: Timestamp) -> Result<(), DbError> {
        let write = move |tx: &Tx<'_>| {
            if RECORDED_ACTIONS.put_new(tx, &action, &[], now)? {
                event.write(tx, now)?;
            }
            Ok(())
        };
        self.0.db.write("audit", write).await
    }

    /// Reads from the database, to see whether it answers.
    pub async fn ping(&self) -> Result<(), DbError> {
        self.0.db.read(|tx| grants::find_token(tx, &[0; 32]).map(drop)).await
    }

    /// Deletes expired grants, tokens and values.
    pub async fn sweep(&self, now: Timestamp) -> Result<usize, DbError> {
        let before = now.saturating_sub(AUDIT_RETENTION).unwrap_or(now);
        let sweep = move |tx: &Tx<'_>| {
            let swept = grants::sweep(tx, now)? + kv::sweep(tx, now)? + rate_limits::sweep(tx)?;
            Ok(swept + audit::trim(tx, before, MAX_AUDIT_ROWS)?)
        };
        self.0.db.write("audit", sweep).await
    }
}
