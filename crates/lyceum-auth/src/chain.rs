//! A chain, read over JSON-RPC. Its address is a secret, for providers put keys into it.
//!
//! What a contract answers and what goes wrong on the way are kept apart: only the second means that nothing is known.

use std::{fmt, time::Duration};

use alloy_primitives::{Address, Bytes, address, hex};
use lyceum_net::{ClientOptions, category, client, read_body};
use reqwest::{Client, Url};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

/// How long one answer may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// How large one answer may be.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// How much work one call may make.
const GAS_LIMIT: u64 = 10_000_000;

/// Whom code that is not on the chain seems to be run by: an account that nobody has.
const NOBODY_ADDRESS: Address = address!("6c79636575600000000000000000000000000000");

/// A chain, and where it is read.
pub struct Chain {
    id: u64,
    url: Url,
    client: Client,
    /// Whether it is the chain that it should be was asked.
    is_right: OnceCell<()>,
}

/// The state that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// The newest.
    Latest,
    /// One that is not going to be undone.
    Safe,
}

/// Why a chain gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// It can't be reached, or says something that can't be read. The text is for the operator.
    #[error("chain {chain} can't be read now: {why}")]
    Unreachable {
        /// Which one.
        chain: u64,
        /// What happened.
        why: String,
    },
    /// The contract refused, with what it said.
    #[error("the contract refused the call")]
    Reverted(Bytes),
}

/// Why a chain can't be used at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the RPC URL must be http or https")]
pub struct BadChain;

#[derive(Deserialize)]
struct RpcResponse {
    result: Option<Value>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    code: i64,
    #[serde(default)]
    message: String,
    data: Option<Value>,
}

impl Chain {
    /// Gets ready to read; nothing is sent yet.
    pub fn new(id: u64, url: &str) -> Result<Self, BadChain> {
        let url = Url::parse(url.trim()).map_err(|_| BadChain)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BadChain);
        }
        let client = client(&url, ClientOptions::default()).map_err(|_| BadChain)?;
        Ok(Self { id, url, client, is_right: OnceCell::new() })
    }

    /// Its number.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Whether it can be reached, and is the chain that it should be.
    pub async fn reach(&self) -> Result<(), ChainError> {
        self.is_right.get_or_try_init(|| self.check_id()).await?;
        Ok(())
    }

    /// Calls a contract, without changing anything.
    pub(crate) async fn call(&self, to: Address, data: Vec<u8>, at: Block) -> Result<Bytes, ChainError> {
        self.eth_call(json!({ "to": to.to_string(), "data": Bytes::from(data).to_string(), "gas": format!("{GAS_LIMIT:#x}") }), at).await
    }

    /// Runs code that is not on the chain, without changing anything. Nobody runs it, which is not the same as the account
    /// zero: some contracts trust whatever seems to come from there.
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
        let answer = self.request("eth_call", json!([call, block])).await?;
        bytes_of(&answer).ok_or_else(|| self.unreachable("the answer is not hexadecimal"))
    }

    /// An address that leads to another chain would give everyone the roles of that one.
    async fn check_id(&self) -> Result<(), ChainError> {
        let answer = self.request("eth_chainId", json!([])).await?;
        let id = answer.as_str().and_then(|id| u64::from_str_radix(id.strip_prefix("0x")?, 16).ok());
        match id {
            Some(id) if id == self.id => Ok(()),
            Some(id) => Err(self.unreachable(&format!("its address leads to chain {id}"))),
            None => Err(self.unreachable("it does not say which chain it is")),
        }
    }

    async fn request(&self, method: &str, params: Value) -> Result<Value, ChainError> {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let sent = self.client.post(self.url.clone()).json(&question).timeout(REQUEST_TIMEOUT).send();
        let response = sent.await.map_err(|error| self.unreachable(category(&error)))?;
        let status = response.status();
        let body = read_body(response, MAX_RESPONSE_BYTES).await;
        let body = body.map_err(|error| self.unreachable(&error.to_string()))?;
        let answer: RpcResponse = serde_json::from_slice(&body)
            .map_err(|_| self.unreachable(&format!("the answer is not JSON-RPC (status {status})")))?;
        match (answer.result, answer.error) {
            (_, Some(refusal)) => Err(self.refused(&refusal)),
            (Some(result), None) if status.is_success() => Ok(result),
            _ => Err(self.unreachable(&format!("it answered with status {status}"))),
        }
    }

    fn refused(&self, refusal: &Refusal) -> ChainError {
        let data =
            refusal.data.as_ref().and_then(|data| bytes_of(data).or_else(|| bytes_of(data.get("data")?)));
        let text = refusal.message.to_ascii_lowercase();
        let is_the_call = ["revert", "out of gas", "outofgas", "invalid opcode", "stack"]
            .iter()
            .any(|word| text.contains(word));
        if refusal.code == 3 || is_the_call {
            ChainError::Reverted(data.unwrap_or_default())
        } else {
            self.unreachable(&format!("it refused with code {}", refusal.code))
        }
    }

    fn unreachable(&self, why: &str) -> ChainError {
        ChainError::Unreachable { chain: self.id, why: why.to_owned() }
    }
}

fn bytes_of(value: &Value) -> Option<Bytes> {
    hex::decode(value.as_str()?).ok().map(Bytes::from)
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({})", self.id)
    }
}
