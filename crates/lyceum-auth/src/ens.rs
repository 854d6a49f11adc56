//! ENS profiles: the name of an account and its text records.
//!
//! The universal resolver does the reverse lookup and verifies that the name resolves back to the account. Names
//! must be normalized (ENSIP-15), so that no two look alike. Offchain gateways are called through the SSRF guard.

mod gateway;

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256, address, keccak256};
use alloy_sol_types::{SolCall, sol};
use jiff::{SignedDuration, Timestamp};
use lyceum_net::Guard;
use quick_cache::sync::Cache;
use serde::{Deserialize, Serialize};

use crate::chain::{Chain, ChainError};

/// Address of the ENS universal resolver.
pub const UNIVERSAL_RESOLVER: Address = address!("eEeEEEeE14D718C2B47D9923Deab1335E144EeEe");

/// SLIP-44 coin type of Ethereum.
const ETHEREUM_COIN_TYPE: u64 = 60;

/// TTL and capacity of the cache.
const PROFILE_TTL: SignedDuration = SignedDuration::from_hours(1);
const CACHE_CAPACITY: usize = 10_000;

/// Maximum length of a text record.
const MAX_TEXT_BYTES: usize = 1024;

sol! {
    function reverse(bytes account, uint256 coin) returns (string name, address resolver, address reverseResolver);
    function resolve(bytes name, bytes data) returns (bytes result, address resolver);
    function text(bytes32 node, string key) returns (string value);
}

/// Public profile of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// ENS name.
    #[serde(rename = "ensName", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// URL of its avatar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// GitHub login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub github: Option<String>,
}

/// Resolves and caches ENS profiles.
#[derive(Debug)]
pub(crate) struct Names {
    chain: Arc<Chain>,
    resolver: Address,
    guard: Guard,
    cache: Cache<Address, (Profile, Timestamp)>,
}

impl Names {
    pub(crate) fn new(chain: Arc<Chain>, resolver: Address, guard: Guard) -> Self {
        Self { chain, resolver, guard, cache: Cache::new(CACHE_CAPACITY) }
    }

    /// Reads the profile of an account. Returns an empty one on failure: it must not prevent a sign-in.
    pub(crate) async fn profile(&self, account: Address, now: Timestamp) -> Profile {
        if let Some((profile, read)) = self.cache.get(&account)
            && now.duration_since(read) < PROFILE_TTL
        {
            return profile;
        }
        match self.read(account).await {
            Ok(profile) => {
                self.cache.insert(account, (profile.clone(), now));
                profile
            }
            Err(error) => {
                tracing::warn!(error.cause = %error, "could not resolve the ENS name of an account");
                Profile::default()
            }
        }
    }

    async fn read(&self, account: Address) -> Result<Profile, ChainError> {
        let call = reverseCall { account: account.to_vec().into(), coin: U256::from(ETHEREUM_COIN_TYPE) };
        let answer = match self.call_resolver(call.abi_encode()).await {
            Ok(answer) => answer,
            // There is no name, or it resolves to another account.
            Err(ChainError::Reverted(_)) => return Ok(Profile::default()),
            Err(error) => return Err(error),
        };
        let name = reverseCall::abi_decode_returns(&answer).map(|answer| answer.name).unwrap_or_default();
        let Some(name) = normalized(&name) else { return Ok(Profile::default()) };
        let (avatar, github) =
            futures::future::try_join(self.text(&name, "avatar"), self.text(&name, "com.github")).await?;
        Ok(Profile { name: Some(name), avatar, github })
    }

    async fn text(&self, name: &str, key: &str) -> Result<Option<String>, ChainError> {
        let Some(encoded) = dns_encode(name) else { return Ok(None) };
        let data = textCall { node: namehash(name), key: key.to_owned() }.abi_encode();
        let call = resolveCall { name: encoded.into(), data: data.into() }.abi_encode();
        let answer = match self.call_resolver(call).await {
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

    async fn call_resolver(&self, call: Vec<u8>) -> Result<alloy_primitives::Bytes, ChainError> {
        gateway::call(&self.chain, &self.guard, self.resolver, call).await
    }
}

/// Returns the name if it is normalized (ENSIP-15).
fn normalized(name: &str) -> Option<String> {
    if name.is_empty() || name.len() > 255 {
        return None;
    }
    ens_normalize::ens_normalize(name).ok().filter(|normal| normal == name)
}

/// Namehash of a name (ENSIP-1).
fn namehash(name: &str) -> B256 {
    let labels = name.rsplit('.').filter(|label| !label.is_empty());
    labels.fold(B256::ZERO, |node, label| keccak256([node.as_slice(), keccak256(label).as_slice()].concat()))
}

/// DNS wire format of a name: each label after its length.
fn dns_encode(name: &str) -> Option<Vec<u8>> {
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
