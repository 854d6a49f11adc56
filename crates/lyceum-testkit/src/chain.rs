//! A chain that tests read: JSON-RPC with hats that are put on and taken off, and with the ways in which endpoints fail.
//!
//! It runs no contracts; those are met on a real chain, by `cargo xtask peers`.

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

/// How the endpoint answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainBehavior {
    /// As an endpoint does.
    Normally,
    /// Always with this status.
    With(u16),
    /// Never.
    Never,
    /// With a text that is no JSON-RPC.
    Garbage,
    /// With an error of JSON-RPC, as one that has had enough.
    Refusing,
}

/// A chain on a port of its own; it ends when it is dropped.
pub struct TestChain {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    running: AbortHandle,
}

struct State {
    id: u64,
    answers: ChainBehavior,
    worn: HashSet<(String, String)>,
    requests: usize,
    was_shown_credentials: bool,
}

impl TestChain {
    /// Starts a chain with that number.
    pub async fn start(id: u64) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = State {
            id,
            answers: ChainBehavior::Normally,
            worn: HashSet::new(),
            requests: 0,
            was_shown_credentials: false,
        };
        let state = Arc::new(Mutex::new(state));
        let seen = state.clone();
        let answer = move |request| respond(request, seen.clone());
        let running = tokio::spawn(serve(listener, answer)).abort_handle();
        Ok(Self { address, state, running })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://{}/secret-key-of-the-provider", self.address)
    }

    /// Answers in that way from now on.
    pub fn behave(&self, answers: ChainBehavior) {
        self.state().answers = answers;
    }

    /// Says that it is another chain from now on.
    pub fn become_chain(&self, id: u64) {
        self.state().id = id;
    }

    /// Gives an account a hat; the hat as its number in 64 hexadecimal digits.
    pub fn put_on(&self, account: &str, hat: &str) {
        self.state().worn.insert(worn(account, hat));
    }

    /// Takes it away.
    pub fn take_off(&self, account: &str, hat: &str) {
        self.state().worn.remove(&worn(account, hat));
    }

    /// Whether any question came with a token or a cookie.
    pub fn was_shown_credentials(&self) -> bool {
        self.state().was_shown_credentials
    }

    /// How often it was asked.
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
    let answers = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += 1;
        state.was_shown_credentials |= has_credentials;
        state.answers
    };
    let text = match answers {
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
            let question: Value = serde_json::from_slice(&body).unwrap_or_default();
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            json!({ "jsonrpc": "2.0", "id": question.get("id"), "result": result(&question, &state) })
                .to_string()
        }
    };
    Response::new(Full::from(text))
}

fn result(question: &Value, state: &State) -> Value {
    let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
    let data = question.pointer("/params/0/data").and_then(Value::as_str).unwrap_or_default();
    let data = data.trim_start_matches("0x");
    match method {
        "eth_chainId" => format!("{:#x}", state.id).into(),
        "eth_call" if data.starts_with(IS_WEARER) => {
            let (account, hat) = (data.get(32..72), data.get(72..136));
            let is_worn =
                account.zip(hat).is_some_and(|(account, hat)| state.worn.contains(&worn(account, hat)));
            format!("0x{:064x}", u8::from(is_worn)).into()
        }
        // No contract is there.
        "eth_call" => "0x".into(),
        _ => Value::Null,
    }
}
