//! Calls with offchain lookup (ERC-3668, CCIP Read): the contract names gateway URLs, and gets the response in a
//! callback.
//!
//! Anyone can deploy such a contract, so gateways are called through the SSRF guard, a limited number of times.

use std::time::Duration;

use alloy_primitives::{Address, Bytes, hex};
use alloy_sol_types::{SolError, SolType, sol, sol_data};
use lyceum_net::{Fetch, Guard, read_body};
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;

use crate::chain::{Block, Chain, ChainError};

/// Maximum lookups per call, and URLs tried per lookup.
const MAX_LOOKUPS: usize = 4;
const MAX_URLS: usize = 4;

/// Timeout and size limit of a gateway response.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

sol! {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
}

#[derive(Deserialize)]
struct GatewayResponse {
    data: String,
}

/// Calls a contract, following offchain lookups.
pub(super) async fn call(
    chain: &Chain,
    guard: &Guard,
    to: Address,
    call_data: Vec<u8>,
) -> Result<Bytes, ChainError> {
    let mut call_data = call_data;
    for _ in 0..MAX_LOOKUPS {
        let revert_data = match chain.call(to, call_data, Block::Latest).await {
            Err(ChainError::Reverted(revert_data)) => revert_data,
            answer => return answer,
        };
        let Some(lookup) = OffchainLookup::abi_decode(&revert_data).ok().filter(|lookup| lookup.sender == to)
        else {
            return Err(ChainError::Reverted(revert_data));
        };
        let Some(response) = query_gateways(guard, &lookup).await else {
            return Err(ChainError::Reverted(revert_data));
        };
        type CallbackArguments = (sol_data::Bytes, sol_data::Bytes);
        let arguments = CallbackArguments::abi_encode_params(&(response, lookup.extraData.clone()));
        call_data = [lookup.callbackFunction.as_slice(), &arguments].concat();
    }
    Err(ChainError::Reverted(Bytes::new()))
}

/// Returns the first valid response of the gateways.
async fn query_gateways(guard: &Guard, lookup: &OffchainLookup) -> Option<Bytes> {
    for template in lookup.urls.iter().take(MAX_URLS) {
        let (sender, data) = (lookup.sender.to_string().to_ascii_lowercase(), lookup.callData.to_string());
        let is_get = template.contains("{data}");
        let filled = template.replace("{sender}", &sender).replace("{data}", &data);
        let Ok(url) = Url::parse(&filled) else { continue };
        let body = json!({ "sender": sender, "data": data });
        let fetch = if is_get { Fetch::Get } else { Fetch::Post(&body) };
        let Ok(response) = guard.fetch(&url, fetch, "application/json", REQUEST_TIMEOUT).await else {
            continue;
        };
        let Ok(body) = read_body(response, MAX_RESPONSE_BYTES).await else { continue };
        let data = serde_json::from_slice::<GatewayResponse>(&body)
            .ok()
            .and_then(|response| hex::decode(response.data).ok());
        if let Some(data) = data {
            return Some(data.into());
        }
    }
    None
}
