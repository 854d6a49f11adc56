//! The verbs of sign-in, as the doors call them.

mod admit;
mod authorize;
mod exchange;

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use lyceum_model::Tier;
use lyceum_store::{Db, DbError, grants, kept};
use quick_cache::sync::Cache;

pub use admit::NotAdmitted;
pub use authorize::{Signature, SignInFault};
pub use exchange::Credentials;

use crate::{
    audit::Event,
    chain::Chain,
    documents::Documents,
    guard::Guard,
    hats::Hats,
    oauth::{
        client::Client,
        metadata::{ResourceMetadata, ServerMetadata},
    },
    roles::Roles,
    seal::Key,
    siwe::Place,
    token::TokenHash,
};
use admit::Checked;

/// How many tokens are remembered between two requests.
const REMEMBERED: usize = 100_000;

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
    /// Keys that the operator gave out.
    pub keys: Vec<ApiKey>,
    /// Where client documents may be fetched from.
    pub guard: Guard,
    /// Whether what is public is open to those who do not sign in.
    pub anonymous: bool,
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
    place: Place,
    documents: Documents,
    roles: Roles,
    keys: BTreeMap<[u8; 32], ApiKey>,
    anonymous: bool,
    checked: Cache<TokenHash, Arc<Checked>>,
}

impl Auth {
    /// Sign-in over a database that is its own.
    pub fn new(db: Db, settings: Settings) -> Self {
        let chains: BTreeMap<u64, Arc<Chain>> =
            settings.chains.into_iter().map(|chain| (chain.id(), chain)).collect();
        let hats = settings.hats.and_then(|(id, hats)| Some((chains.get(&id)?.clone(), hats)));
        let tiers = settings.keys.iter().map(|key| (key.name.clone(), key.tier)).collect();
        let domain = settings.issuer.split_once("://").map_or("", |(_, domain)| domain).to_owned();
        let place = Place { domain, uri: settings.issuer.clone(), chains: chains.keys().copied().collect() };
        Self(Arc::new(Inner {
            db,
            issuer: settings.issuer,
            resources: settings.resources,
            key: settings.key,
            clients: settings.clients,
            chains,
            place,
            documents: Documents::new(settings.guard),
            roles: Roles::new(hats, tiers),
            keys: settings.keys.into_iter().map(|key| (key.hash, key)).collect(),
            anonymous: settings.anonymous,
            checked: Cache::new(REMEMBERED),
        }))
    }

    /// The key of this deployment, made at the first start.
    pub async fn key(db: &Db, now: Timestamp) -> Result<Key, DbError> {
        const KEY: kept::Namespace = kept::Namespace { name: "auth-key", seconds: None };
        let fresh = Key::random().map_err(|_| DbError::Closed)?;
        db.write(move |tx| {
            KEY.put_new(tx, "key", &fresh.0, now)?;
            let kept = KEY.get(tx, "key", now)?.and_then(|bytes| bytes.try_into().ok());
            kept.map(Key).ok_or_else(|| DbError::Content("the key of sign-in".to_owned()))
        })
        .await
    }

    /// The name of this server.
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// The chains that accounts may be on; none where accounts can't sign in.
    pub fn chains(&self) -> &[u64] {
        &self.0.place.chains
    }

    /// What the server can do.
    pub fn metadata(&self) -> ServerMetadata {
        ServerMetadata::of(&self.0.issuer)
    }

    /// What is needed to use a resource; nothing where it is not one of ours.
    pub fn resource_metadata(&self, path: &str) -> Option<ResourceMetadata> {
        let resource = format!("{}{path}", self.0.issuer);
        self.0.resources.contains(&resource).then(|| ResourceMetadata::of(&self.0.issuer, resource))
    }

    /// Writes something down.
    pub async fn record(&self, event: Event, now: Timestamp) -> Result<(), DbError> {
        self.0.db.write(move |tx| event.write(tx, now)).await
    }

    /// Takes away what is past its end.
    pub async fn sweep(&self, now: Timestamp) -> Result<usize, DbError> {
        self.0.db.write(move |tx| Ok(grants::sweep(tx, now)? + kept::sweep(tx, now)?)).await
    }
}
