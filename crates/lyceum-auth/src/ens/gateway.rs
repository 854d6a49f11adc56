//! Calls whose answer lies outside the chain (ERC-3668): the contract says where to ask, and is given what came back.
//!
//! Anyone can write such a contract, so what it names is asked through the guard, a few times at most.

use std::time::Duration;

use alloy_primitives::{Address, Bytes, hex};
use alloy_sol_types::{SolError, SolType, sol, sol_data};
use lyceum_net::{Fetch, Guard, read_body};
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;

use crate::chain::{Block, Chain, ChainError};

/// How often a contract may send us on, and how many places of each list are asked.
const MAX_LOOKUPS: usize = 4;
const MAX_URLS: usize = 4;

/// How long an answer may take, and how large it may be.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

sol! {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
}

#[derive(Deserialize)]
struct GatewayResponse {
    data: String,
}

/// Calls a contract, and goes where it sends us.
pub(super) async fn call(
    chain: &Chain,
    guard: &Guard,
    to: Address,
    question: Vec<u8>,
) -> Result<Bytes, ChainError> {
    let mut question = question;
    for _ in 0..MAX_LOOKUPS {
        let revert_data = match chain.call(to, question, Block::Latest).await {
            Err(ChainError::Reverted(revert_data)) => revert_data,
            answer => return answer,
        };
        let Some(sent) = OffchainLookup::abi_decode(&revert_data).ok().filter(|sent| sent.sender == to)
        else {
            return Err(ChainError::Reverted(revert_data));
        };
        let Some(found) = fetch_answer(guard, &sent).await else {
            return Err(ChainError::Reverted(revert_data));
        };
        type CallbackArguments = (sol_data::Bytes, sol_data::Bytes);
        let given = CallbackArguments::abi_encode_params(&(found, sent.extraData.clone()));
        question = [sent.callbackFunction.as_slice(), &given].concat();
    }
    Err(ChainError::Reverted(Bytes::new()))
}

/// What the first place that answers says.
async fn fetch_answer(guard: &Guard, sent: &OffchainLookup) -> Option<Bytes> {
    for place in sent.urls.iter().take(MAX_URLS) {
        let (sender, data) = (sent.sender.to_string().to_ascii_lowercase(), sent.callData.to_string());
        let is_get = place.contains("{data}");
        let url = Url::parse(&place.replace("{sender}", &sender).replace("{data}", &data)).ok()?;
        let body = json!({ "sender": sender, "data": data });
        let fetch = if is_get { Fetch::Get } else { Fetch::Post(&body) };
        let Ok(response) = guard.fetch(&url, fetch, "application/json", REQUEST_TIMEOUT).await else {
            continue;
        };
        let Ok(body) = read_body(response, MAX_RESPONSE_BYTES).await else { continue };
        let found = serde_json::from_slice::<GatewayResponse>(&body)
            .ok()
            .and_then(|found| hex::decode(found.data).ok());
        if let Some(found) = found {
            return Some(found.into());
        }
    }
    None
}
