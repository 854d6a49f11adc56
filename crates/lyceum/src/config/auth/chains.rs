//! The chains of accounts, and the hats on one of them.

use std::sync::Arc;

use lyceum_auth::{Chain, HATS_CONTRACT, Hat, Hats};
use lyceum_model::Tier;

use super::super::check::Checker;

/// The chains there are where none is named, and the variables of their addresses.
const DEFAULT_CHAINS: [(u64, &str); 2] = [(1, "MAINNET_RPC_URL"), (10, "OPTIMISM_RPC_URL")];

/// The chain of the hats, where none is named. Which hats make which tier has no default: they are somebody's organisation.
const DEFAULT_HATS_CHAIN: u64 = 10;

pub(super) fn chains(checker: &mut Checker<'_>) -> Vec<Arc<Chain>> {
    let named: Vec<(String, u64, String)> = checker
        .items("/auth/chain")
        .filter_map(|at| {
            let id = checker.document.values.pointer(&format!("{at}/id"))?.as_u64()?;
            let at = format!("{at}/url_env");
            let name = checker.text(&at)?.to_owned();
            Some((at, id, name))
        })
        .collect();
    let mut chains = Vec::new();
    for (at, id, name) in &named {
        if let Some(url) = checker.variable(at, name) {
            chains.extend(chain(checker, at, *id, name, &url));
        }
    }
    if named.is_empty() {
        for (id, name) in DEFAULT_CHAINS {
            if let Some(url) = checker.maybe_variable(name) {
                chains.extend(chain(checker, "/auth/chain", id, name, &url));
            }
        }
    }
    chains
}

fn chain(checker: &mut Checker<'_>, at: &str, id: u64, name: &str, url: &str) -> Option<Arc<Chain>> {
    match Chain::new(id, url) {
        Ok(chain) => Some(Arc::new(chain)),
        Err(error) => {
            checker.fault(at, format!("the variable {name} can't be used: {error}"));
            None
        }
    }
}

/// The hats that are named. Without any everyone is public; contracts sign in on the usual chain of hats all the same, so
/// that hats can be named later.
pub(super) fn hats(checker: &mut Checker<'_>, chains: &[Arc<Chain>]) -> Option<(u64, Hats)> {
    let table = checker.document.values.pointer("/auth/hats");
    let is_written = table.is_some();
    let id = table.and_then(|table| table.get("chain")?.as_u64()).unwrap_or(DEFAULT_HATS_CHAIN);
    let contract = match checker.text("/auth/hats/contract").map(str::parse) {
        None => HATS_CONTRACT,
        Some(Ok(contract)) => contract,
        Some(Err(_)) => {
            let message = format!(
                "it is not the address of a contract; write for example contract = \"{HATS_CONTRACT}\""
            );
            checker.fault("/auth/hats/contract", message);
            HATS_CONTRACT
        }
    };
    let named = table.and_then(|table| table.get("tiers")?.as_object()).into_iter().flatten();
    let named: Vec<(String, Tier)> = named
        .filter_map(|(hat, tier)| Some((hat.clone(), serde_json::from_value(tier.clone()).ok()?)))
        .collect();
    if is_written && named.is_empty() {
        let message = "it gives nobody a tier; write for example tiers = { \"1.2\" = \"member\" } with hats of your organisation";
        checker.fault("/auth/hats", message.to_owned());
    }
    let mut hats = Vec::new();
    for (text, tier) in named {
        match Hat::parse(&text) {
            Ok(hat) => hats.push((hat, tier)),
            Err(error) => checker.fault("/auth/hats/tiers", format!("{text:?}: {error}")),
        }
    }
    if !chains.iter().any(|chain| chain.id() == id) {
        if is_written {
            let message = format!(
                "the hats are on chain {id}, which is none of the chains; add it with [[auth.chain]]"
            );
            checker.fault("/auth/hats", message);
        }
        return None;
    }
    Some((id, Hats { contract, hats }))
}
