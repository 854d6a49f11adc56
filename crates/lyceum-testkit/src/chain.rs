//! A fake chain: JSON-RPC with hats that can be given and removed, and with the failures of real endpoints.
//!
//! It runs no contracts; `cargo xtask peers` tests those on a real chain.

use std::{
    collections::HashSet,
    future::pending,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Response, StatusCode, body::Incoming, header};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::AbortHandle};

use crate::serving::serve;

/// The selector of `isWearerOfHat(address,uint256)`.
const IS_WEARER: &str = "4352409a";

/// How the endpoint responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainBehavior {
    /// Like a real endpoint.
    Normally,
    /// Always with this status.
    With(u16),
    /// Never.
    Never,
    /// With a text that is not JSON-RPC.
    Garbage,
    /// With a JSON-RPC error, as if a rate limit were exceeded.
    Refusing,
}

/// A fake chain on a free port; stops on drop.
pub struct TestChain {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    running: AbortHandle,
}

struct State {
    id: u64,
    behavior: ChainBehavior,
    worn: HashSet<(String, String)>,
    requests: usize,
    was_shown_credentials: bool,
}

impl TestChain {
    /// Starts a chain with that id.
    pub async fn start(id: u64) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = State {
            id,
            behavior: ChainBehavior::Normally,
            worn: HashSet::new(),
            requests: 0,
            was_shown_credentials: false,
        };
        let state = Arc::new(Mutex::new(state));
        let seen = state.clone();
        let handler = move |request| respond(request, seen.clone());
        let running = tokio::spawn(serve(listener, handler)).abort_handle();
        Ok(Self { address, state, running })
    }

    /// Its JSON-RPC URL.
    pub fn url(&self) -> String {
        format!("http://{}/secret-key-of-the-provider", self.address)
    }

    /// Changes how it responds.
    pub fn behave(&self, behavior: ChainBehavior) {
        self.state().behavior = behavior;
    }

    /// Changes the chain id.
    pub fn become_chain(&self, id: u64) {
        self.state().id = id;
    }

    /// Gives an account a hat. The hat is its id in 64 hexadecimal digits.
    pub fn put_on(&self, account: &str, hat: &str) {
        self.state().worn.insert(worn(account, hat));
    }

    /// Removes a hat from an account.
    pub fn take_off(&self, account: &str, hat: &str) {
        self.state().worn.remove(&worn(account, hat));
    }

    /// Whether any request had a token or a cookie.
    pub fn was_shown_credentials(&self) -> bool {
        self.state().was_shown_credentials
    }

    /// Number of requests so far.
    pub fn requests(&self) -> usize {
        self.state().requests
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TestChain {
    fn drop(&mut self) {
        self.running.abort();
    }
}

fn worn(account: &str, hat: &str) -> (String, String) {
    let plain = |text: &str| text.trim_start_matches("0x").to_ascii_lowercase();
    (plain(account), plain(hat))
}

async fn respond(request: Request<Incoming>, state: Arc<Mutex<State>>) -> Response<Full<Bytes>> {
    let headers = request.headers();
    let has_credentials = headers.contains_key(header::AUTHORIZATION) || headers.contains_key(header::COOKIE);
    let body = Limited::new(request.into_body(), 1024 * 1024).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let behavior = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += 1;
        state.was_shown_credentials |= has_credentials;
        state.behavior
    };
    let text = match behavior {
        ChainBehavior::Never => pending().await,
        ChainBehavior::With(status) => {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
            return response;
        }
        ChainBehavior::Garbage => "<html>busy</html>".to_owned(),
        ChainBehavior::Refusing => {
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32005, "message": "limit exceeded" } })
                .to_string()
        }
        ChainBehavior::Normally => {
            let call: Value = serde_json::from_slice(&body).unwrap_or_default();
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            json!({ "jsonrpc": "2.0", "id": call.get("id"), "result": result(&call, &state) }).to_string()
        }
    };
    Response::new(Full::from(text))
}

fn result(call: &Value, state: &State) -> Value {
    let method = call.get("method").and_then(Value::as_str).unwrap_or_default();
    let data = call.pointer("/params/0/data").and_then(Value::as_str).unwrap_or_default();
    let data = data.trim_start_matches("0x");
    match method {
        "eth_chainId" => format!("{:#x}", state.id).into(),
        "eth_call" if data.starts_with(IS_WEARER) => {
            let (account, hat) = (data.get(32..72), data.get(72..136));
            let is_worn =
                account.zip(hat).is_some_and(|(account, hat)| state.worn.contains(&worn(account, hat)));
            format!("0x{:064x}", u8::from(is_worn)).into()
        }
        // There are no other contracts.
        "eth_call" => "0x".into(),
        _ => Value::Null,
    }
}
