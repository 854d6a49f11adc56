//! The verbs of sign-in, as the doors call them.

mod account;
mod admit;
mod authorize;
mod exchange;

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, hex};
use jiff::{SignedDuration, Timestamp};
use lyceum_model::{Caller, Rights, Tier};
use lyceum_net::Guard;
use lyceum_store::{Db, DbError, Tx, audit, grants, kv};
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

/// How many tokens are remembered between two requests; a full cache forgets some too early.
const TOKEN_CACHE_CAPACITY: usize = 150_000;

/// How far the audit log goes back, and how many rows it has at most.
const AUDIT_RETENTION: SignedDuration = SignedDuration::from_hours(365 * 24);
const MAX_AUDIT_ROWS: i64 = 1_000_000;

/// How sign-in is set up.
#[derive(Debug)]
pub struct Settings {
    /// The name of this server, as the whole world knows it: `https://mcp.example.org`.
    pub issuer: String,
    /// What tokens can be for; the first where a client names none.
    pub resources: Vec<String>,
    /// The key of this deployment.
    pub key: Key,
    /// Clients that the operator named.
    pub clients: Vec<Client>,
    /// Chains, where accounts can sign in.
    pub chains: Vec<Arc<Chain>>,
    /// Hats that make tiers, and the number of the chain they are on.
    pub hats: Option<(u64, Hats)>,
    /// The chain and the contract that names are read from.
    pub names: Option<(u64, Address)>,
    /// GitHub, where people can sign in there, or with the tokens that they have from there.
    pub github: Option<GitHub>,
    /// Whether tokens of GitHub are taken as they are.
    pub takes_pats: bool,
    /// How long somebody's tier is taken as it was.
    pub roles_good_for: SignedDuration,
    /// Keys that the operator gave out.
    pub keys: Vec<ApiKey>,
    /// Where client documents may be fetched from.
    pub guard: Guard,
    /// Whether what is public is open to those who do not sign in.
    pub anonymous: bool,
    /// Every scope there is.
    pub rights: Rights,
}

/// A key that the operator gave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its name, for the record.
    pub name: String,
    /// What is kept of it.
    pub hash: [u8; 32],
    /// How far its holder is trusted.
    pub tier: Tier,
}

impl ApiKey {
    /// Who holds it.
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
    place: SiweDomain,
    documents: Documents,
    roles: Roles,
    names: Option<Names>,
    github: Option<GitHub>,
    pats: Option<Pats>,
    keys: BTreeMap<[u8; 32], ApiKey>,
    anonymous: bool,
    /// Who sends a request without a token.
    stranger: Arc<Caller>,
    rights: Rights,
    checked: Cache<TokenHash, Arc<CachedToken>>,
}

impl Auth {
    /// Sign-in over a database that is its own.
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
        let place =
            SiweDomain { domain, uri: settings.issuer.clone(), chains: chains.keys().copied().collect() };
        Self(Arc::new(Inner {
            db,
            issuer: settings.issuer,
            resources: settings.resources,
            key: settings.key,
            clients: settings.clients,
            chains,
            place,
            documents: Documents::new(settings.guard),
            roles: Roles::new(hats, settings.github.clone(), tiers, settings.roles_good_for),
            names,
            pats,
            github: settings.github,
            keys: settings.keys.into_iter().map(|key| (key.hash, key)).collect(),
            anonymous: settings.anonymous,
            stranger: Arc::new(Caller::anonymous()),
            rights: settings.rights,
            checked: Cache::new(TOKEN_CACHE_CAPACITY),
        }))
    }

    pub(crate) fn key(&self) -> &Key {
        &self.0.key
    }

    /// The name of this server.
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// The chains that accounts may be on; none where accounts can't sign in.
    pub fn chains(&self) -> &[u64] {
        &self.0.place.chains
    }

    /// The origin of GitHub, where people can sign in there.
    pub fn github(&self) -> Option<String> {
        self.0.github.as_ref().map(GitHub::origin)
    }

    /// Whether there are keys that a person can sign in with.
    pub fn has_keys(&self) -> bool {
        !self.0.keys.is_empty()
    }

    /// Whether the operator named that client.
    pub fn vouches_for(&self, client: &str) -> bool {
        self.0.clients.iter().any(|known| known.id == client)
    }

    /// Every scope there is.
    pub fn rights(&self) -> &Rights {
        &self.0.rights
    }

    /// What the server can do.
    pub fn metadata(&self) -> ServerMetadata {
        ServerMetadata::of(&self.0.issuer, &self.0.rights)
    }

    /// What is needed to use a resource; nothing where it is not one of ours.
    pub fn resource_metadata(&self, path: &str) -> Option<ResourceMetadata> {
        let resource = format!("{}{path}", self.0.issuer);
        let is_ours = self.0.resources.contains(&resource);
        is_ours.then(|| ResourceMetadata::of(&self.0.issuer, resource, &self.0.rights))
    }

    /// Writes something down.
    pub async fn record(&self, event: Event, now: Timestamp) -> Result<(), DbError> {
        self.0.db.write(move |tx| event.write(tx, now)).await
    }

    /// Deletes expired grants, tokens and values.
    pub async fn sweep(&self, now: Timestamp) -> Result<usize, DbError> {
        let before = now.saturating_sub(AUDIT_RETENTION).unwrap_or(now);
        let sweep = move |tx: &Tx<'_>| {
            Ok(grants::sweep(tx, now)? + kv::sweep(tx, now)? + audit::trim(tx, before, MAX_AUDIT_ROWS)?)
        };
        self.0.db.write(sweep).await
    }
}
