//! Reads a chain over JSON-RPC. Its URL is a secret, because providers put API keys into it.
//!
//! Separates what a contract returned, including a revert, from failures to reach the chain.

use std::{fmt, time::Duration};

use alloy_primitives::{Address, Bytes, address, hex};
use lyceum_net::{ClientOptions, category, client, read_body};
use reqwest::{Client, Url};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

/// Timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Gas limit of a call.
const GAS_LIMIT: u64 = 10_000_000;

/// Sender of calls that run code not on the chain: an address without an owner.
const NOBODY_ADDRESS: Address = address!("6c79636575600000000000000000000000000000");

/// A chain and its RPC endpoint.
pub struct Chain {
    id: u64,
    url: Url,
    client: Client,
    /// Set once the endpoint's chain id was verified.
    id_verified: OnceCell<()>,
}

/// Block to read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// The latest block.
    Latest,
    /// The latest block that is safe from reorgs.
    Safe,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// The chain can't be reached, or its response is invalid. The message is for the operator.
    #[error("chain {chain} can't be read: {why}")]
    Unreachable {
        /// Chain id.
        chain: u64,
        /// Reason.
        why: String,
    },
    /// The contract reverted, with this data.
    #[error("the contract reverted")]
    Reverted(Bytes),
}

/// The RPC URL is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the RPC URL must be http or https")]
pub struct BadChain;

#[derive(Deserialize)]
struct RpcResponse {
    result: Option<Value>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    #[serde(default)]
    message: String,
    data: Option<Value>,
}

impl Chain {
    /// Creates the client; sends nothing yet.
    pub fn new(id: u64, url: &str) -> Result<Self, BadChain> {
        let url = Url::parse(url.trim()).map_err(|_| BadChain)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BadChain);
        }
        let client = client(&url, ClientOptions::default()).map_err(|_| BadChain)?;
        Ok(Self { id, url, client, id_verified: OnceCell::new() })
    }

    /// Chain id.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Checks that the endpoint can be reached and serves the right chain.
    pub async fn reach(&self) -> Result<(), ChainError> {
        self.id_verified.get_or_try_init(|| self.check_id()).await?;
        Ok(())
    }

    /// Calls a contract read-only (`eth_call`).
    pub(crate) async fn call(&self, to: Address, data: Vec<u8>, at: Block) -> Result<Bytes, ChainError> {
        self.eth_call(json!({ "to": to.to_string(), "data": Bytes::from(data).to_string(), "gas": format!("{GAS_LIMIT:#x}") }), at).await
    }

    /// Runs code that is not on the chain (`eth_call` without `to`). The sender is not the zero address, because
    /// some contracts trust that one.
    pub(crate) async fn run(&self, code: Bytes, at: Block) -> Result<Bytes, ChainError> {
        self.eth_call(
            json!({ "from": NOBODY_ADDRESS.to_string(), "data": code.to_string(), "gas": format!("{GAS_LIMIT:#x}") }),
            at,
        )
        .await
    }

    async fn eth_call(&self, call: Value, at: Block) -> Result<Bytes, ChainError> {
        self.reach().await?;
        let block = match at {
            Block::Latest => "latest",
            Block::Safe => "safe",
        };
        let result = self.request("eth_call", json!([call, block])).await?;
        parse_hex(&result).ok_or_else(|| self.unreachable("the result is not hexadecimal"))
    }

    /// Verifies the chain id: an endpoint of another chain would grant the roles of that one.
    async fn check_id(&self) -> Result<(), ChainError> {
        let result = self.request("eth_chainId", json!([])).await?;
        let id = result.as_str().and_then(|id| u64::from_str_radix(id.strip_prefix("0x")?, 16).ok());
        match id {
            Some(id) if id == self.id => Ok(()),
            Some(id) => Err(self.unreachable(&format!("its RPC URL is for chain {id}"))),
            None => Err(self.unreachable("invalid response to eth_chainId")),
        }
    }

    async fn request(&self, method: &str, params: Value) -> Result<Value, ChainError> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let sent = self.client.post(self.url.clone()).json(&body).timeout(REQUEST_TIMEOUT).send();
        let response = sent.await.map_err(|error| self.unreachable(category(&error)))?;
        let status = response.status();
        let body = read_body(response, MAX_RESPONSE_BYTES).await;
        let body = body.map_err(|error| self.unreachable(&error.to_string()))?;
        let response: RpcResponse = serde_json::from_slice(&body)
            .map_err(|_| self.unreachable(&format!("the response is not JSON-RPC (status {status})")))?;
        match (response.result, response.error) {
            (_, Some(error)) => Err(self.classify(&error)),
            (Some(result), None) if status.is_success() => Ok(result),
            _ => Err(self.unreachable(&format!("HTTP status {status}"))),
        }
    }

    fn classify(&self, error: &RpcError) -> ChainError {
        let data =
            error.data.as_ref().and_then(|data| parse_hex(data).or_else(|| parse_hex(data.get("data")?)));
        let text = error.message.to_ascii_lowercase();
        let is_revert = ["revert", "out of gas", "outofgas", "invalid opcode", "stack"]
            .iter()
            .any(|word| text.contains(word));
        if error.code == 3 || is_revert {
            ChainError::Reverted(data.unwrap_or_default())
        } else {
            self.unreachable(&format!("JSON-RPC error {}", error.code))
        }
    }

    fn unreachable(&self, why: &str) -> ChainError {
        ChainError::Unreachable { chain: self.id, why: why.to_owned() }
    }
}

fn parse_hex(value: &Value) -> Option<Bytes> {
    hex::decode(value.as_str()?).ok().map(Bytes::from)
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({})", self.id)
    }
}
