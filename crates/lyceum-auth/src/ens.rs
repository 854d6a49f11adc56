//! Names of accounts: what an account is called in ENS, and what it says of itself there.
//!
//! The resolver on the chain finds the name of an account and checks that the name leads back to it. A name is taken only as
//! ENSIP-15 writes it, so that no two look alike. What lies outside the chain is asked through a guard.

mod gateway;

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256, address, keccak256};
use alloy_sol_types::{SolCall, sol};
use jiff::{SignedDuration, Timestamp};
use lyceum_net::Guard;
use quick_cache::sync::Cache;
use serde::{Deserialize, Serialize};

use crate::chain::{Chain, ChainError};

/// Where the resolver of all names is.
pub const UNIVERSAL_RESOLVER: Address = address!("eEeEEEeE14D718C2B47D9923Deab1335E144EeEe");

/// Stands for Ethereum among coins.
const ETHEREUM_COIN_TYPE: u64 = 60;

/// How long what was found is taken as it was, and how many accounts are remembered.
const PROFILE_TTL: SignedDuration = SignedDuration::from_hours(1);
const CACHE_CAPACITY: usize = 10_000;

/// The longest text that is kept.
const MAX_TEXT_BYTES: usize = 1024;

sol! {
    function reverse(bytes account, uint256 coin) returns (string name, address resolver, address reverseResolver);
    function resolve(bytes name, bytes data) returns (bytes result, address resolver);
    function text(bytes32 node, string key) returns (string value);
}

/// What an account says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Its name.
    #[serde(rename = "ensName", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where its picture is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// Its name at GitHub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub github: Option<String>,
}

/// Names, and where they are read.
#[derive(Debug)]
pub(crate) struct Names {
    chain: Arc<Chain>,
    resolver: Address,
    guard: Guard,
    known: Cache<Address, (Profile, Timestamp)>,
}

impl Names {
    pub(crate) fn new(chain: Arc<Chain>, resolver: Address, guard: Guard) -> Self {
        Self { chain, resolver, guard, known: Cache::new(CACHE_CAPACITY) }
    }

    /// What an account says of itself. Nobody is kept from signing in because it can't be read: then it is nothing.
    pub(crate) async fn profile(&self, account: Address, now: Timestamp) -> Profile {
        if let Some((profile, read)) = self.known.get(&account)
            && now.duration_since(read) < PROFILE_TTL
        {
            return profile;
        }
        match self.read(account).await {
            Ok(profile) => {
                self.known.insert(account, (profile.clone(), now));
                profile
            }
            Err(error) => {
                tracing::warn!(error.cause = %error, "could not resolve the ENS name of an account");
                Profile::default()
            }
        }
    }

    async fn read(&self, account: Address) -> Result<Profile, ChainError> {
        let question = reverseCall { account: account.to_vec().into(), coin: U256::from(ETHEREUM_COIN_TYPE) };
        let answer = match self.call_resolver(question.abi_encode()).await {
            Ok(answer) => answer,
            // There is no name, or it leads to somebody else.
            Err(ChainError::Reverted(_)) => return Ok(Profile::default()),
            Err(error) => return Err(error),
        };
        let name = reverseCall::abi_decode_returns(&answer).map(|answer| answer.name).unwrap_or_default();
        let Some(name) = normal(&name) else { return Ok(Profile::default()) };
        let (avatar, github) =
            futures::future::try_join(self.text(&name, "avatar"), self.text(&name, "com.github")).await?;
        Ok(Profile { name: Some(name), avatar, github })
    }

    async fn text(&self, name: &str, key: &str) -> Result<Option<String>, ChainError> {
        let Some(encoded) = encoded(name) else { return Ok(None) };
        let data = textCall { node: node(name), key: key.to_owned() }.abi_encode();
        let question = resolveCall { name: encoded.into(), data: data.into() }.abi_encode();
        let answer = match self.call_resolver(question).await {
            Ok(answer) => answer,
            Err(ChainError::Reverted(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let answer = resolveCall::abi_decode_returns(&answer).ok();
        let value = answer.and_then(|answer| textCall::abi_decode_returns(&answer.result).ok());
        Ok(value.filter(|value| {
            !value.is_empty() && value.len() <= MAX_TEXT_BYTES && !value.contains(char::is_control)
        }))
    }

    async fn call_resolver(&self, question: Vec<u8>) -> Result<alloy_primitives::Bytes, ChainError> {
        gateway::call(&self.chain, &self.guard, self.resolver, question).await
    }
}

/// A name, if it is written as ENSIP-15 says.
fn normal(name: &str) -> Option<String> {
    if name.is_empty() || name.len() > 255 {
        return None;
    }
    ens_normalize::ens_normalize(name).ok().filter(|normal| normal == name)
}

/// The number that stands for a name.
fn node(name: &str) -> B256 {
    let labels = name.rsplit('.').filter(|label| !label.is_empty());
    labels.fold(B256::ZERO, |node, label| keccak256([node.as_slice(), keccak256(label).as_slice()].concat()))
}

/// A name as DNS writes it: each label after its length.
fn encoded(name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(name.len() + 2);
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).ok().filter(|length| *length > 0)?);
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.push(0);
    Some(bytes)
}

#[cfg(test)]
mod tests;
