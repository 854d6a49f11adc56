//! The chains for wallet sign-in, and the hats on one of them.

use std::sync::Arc;

use lyceum_auth::{Chain, HATS_CONTRACT, Hat, Hats};
use lyceum_model::Tier;

use super::super::check::Checker;

/// The default chains, and the variables with their JSON-RPC URLs.
const DEFAULT_CHAINS: [(u64, &str); 2] = [(1, "MAINNET_RPC_URL"), (10, "OPTIMISM_RPC_URL")];

/// The default chain of the hats. Which hats grant which tier has no default: hats belong to an organisation.
const DEFAULT_HATS_CHAIN: u64 = 10;

pub(super) fn chains(checker: &mut Checker<'_>) -> Vec<Arc<Chain>> {
    let configured: Vec<(String, u64, String)> = checker
        .items("/auth/chain")
        .filter_map(|at| {
            let id = checker.document.values.pointer(&format!("{at}/id"))?.as_u64()?;
            let at = format!("{at}/url_env");
            let name = checker.text(&at)?.to_owned();
            Some((at, id, name))
        })
        .collect();
    let mut chains = Vec::new();
    for (at, id, name) in &configured {
        if let Some(url) = checker.variable(at, name) {
            chains.extend(chain(checker, at, *id, name, &url));
        }
    }
    if configured.is_empty() {
        for (id, name) in DEFAULT_CHAINS {
            if let Some(url) = checker.optional_variable(name) {
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

/// The configured hats. Without any, everybody who signs in is public. Contract wallets can still sign in on the
/// default chain of the hats, so that hats can be added later.
pub(super) fn hats(checker: &mut Checker<'_>, chains: &[Arc<Chain>]) -> Option<(u64, Hats)> {
    let table = checker.document.values.pointer("/auth/hats");
    let is_written = table.is_some();
    let id = table.and_then(|table| table.get("chain")?.as_u64()).unwrap_or(DEFAULT_HATS_CHAIN);
    let contract = match checker.text("/auth/hats/contract").map(str::parse) {
        None => HATS_CONTRACT,
        Some(Ok(contract)) => contract,
        Some(Err(_)) => {
            let message = format!("not a contract address; write for example contract = \"{HATS_CONTRACT}\"");
            checker.fault("/auth/hats/contract", message);
            HATS_CONTRACT
        }
    };
    let named = table.and_then(|table| table.get("tiers")?.as_object()).into_iter().flatten();
    let named: Vec<(String, Tier)> = named
        .filter_map(|(hat, tier)| Some((hat.clone(), serde_json::from_value(tier.clone()).ok()?)))
        .collect();
    if is_written && named.is_empty() {
        let message = "grants nobody a tier; write for example tiers = { \"1.2\" = \"member\" } with the hats of your organisation";
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
            let message =
                format!("the hats are on chain {id}, which is not configured; add it with [[auth.chain]]");
            checker.fault("/auth/hats", message);
        }
        return None;
    }
    Some((id, Hats { contract, hats }))
}
