//! Complete sign-ins on one keep-alive connection: client registration, sign-in page, authentication, token request.
//! Only the HTTP requests are timed.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::chain::Chain;
use crate::connection::Connection;
use lyceum_harness::exchange::{Request, Response};
use lyceum_harness::server::Server;

/// Number of measured sign-ins, and of unmeasured ones before them.
pub(super) const SIGN_IN_COUNT: usize = 200;
const WARM_UP_COUNT: usize = 10;

/// Redirect URI. Nothing listens there.
const CALLBACK: &str = "http://127.0.0.1:9/callback";

/// PKCE verifier and challenge, from the example of RFC 7636.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A valid signature of some key: the server recovers the address first, then checks the contract signature on the
/// chain. Its point is the generator of the curve.
const SIGNATURE: &str = "0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\
                         00000000000000000000000000000000000000000000000000000000000000011b";

/// How the person authenticates.
#[derive(Clone, Copy)]
pub(super) enum SignInMethod<'a> {
    /// With an API key.
    Key(&'a str),
    /// With a contract wallet, another one each time.
    Wallet(&'a Chain),
}

/// Times in milliseconds.
#[derive(Default)]
pub(super) struct SignInTimes {
    /// Total without the chain's time.
    pub(super) total: Vec<f64>,
    /// Times by request, in order.
    pub(super) steps: Vec<(&'static str, Vec<f64>)>,
    /// Busy time of the chain per sign-in, and its total number of requests.
    pub(super) chain: Vec<f64>,
    pub(super) requests: usize,
}

/// A person with a browser and a client, with an own IP address.
struct Person<'a> {
    connection: &'a mut Connection,
    number: usize,
    cookie: Option<String>,
    steps: Vec<(&'static str, Duration)>,
}

/// Measures repeated sign-ins.
pub(super) fn measure(server: &Server, method: SignInMethod<'_>) -> Result<SignInTimes> {
    let mut connection = Connection::open(server.addr)?;
    let mut times = SignInTimes::default();
    for number in 0..WARM_UP_COUNT + SIGN_IN_COUNT {
        let before = chain_stats(method);
        let mut person = Person { connection: &mut connection, number, cookie: None, steps: Vec::new() };
        person.sign_in(method)?;
        if number < WARM_UP_COUNT {
            continue;
        }
        let (busy, requests) = chain_stats(method);
        let chain = busy.saturating_sub(before.0);
        let total: Duration = person.steps.iter().map(|(_, time)| *time).sum();
        times.total.push(milliseconds(total.saturating_sub(chain)));
        times.chain.push(milliseconds(chain));
        times.requests += requests - before.1;
        times.steps.resize_with(person.steps.len(), Default::default);
        for ((name, step_times), (step, time)) in times.steps.iter_mut().zip(person.steps) {
            *name = step;
            step_times.push(milliseconds(time));
        }
    }
    Ok(times)
}

/// Signs in with a key and returns the access token.
pub(super) fn token(server: &Server, key: &str) -> Result<String> {
    let mut connection = Connection::open(server.addr)?;
    let number = WARM_UP_COUNT + SIGN_IN_COUNT;
    Person { connection: &mut connection, number, cookie: None, steps: Vec::new() }
        .sign_in(SignInMethod::Key(key))
}

fn chain_stats(method: SignInMethod<'_>) -> (Duration, usize) {
    match method {
        SignInMethod::Key(_) => (Duration::ZERO, 0),
        SignInMethod::Wallet(chain) => chain.stats(),
    }
}

impl Person<'_> {
    fn sign_in(&mut self, method: SignInMethod<'_>) -> Result<String> {
        let client = json!({ "redirect_uris": [CALLBACK], "client_name": "lyceum-bench" });
        let registered = self.send("`POST /register`", json_to("/register", &client), 201)?;
        let client = text_in(&registered, "client_id")?;

        let requests = format!(
            "/authorize?response_type=code&client_id={client}&redirect_uri={CALLBACK}&code_challenge={CHALLENGE}\
             &code_challenge_method=S256&state=s"
        );
        let page = self.send("`GET /authorize`", Request::get(requests), 200)?;
        let cookie = page.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        self.cookie = Some(cookie.context("the page sets no cookie")?.to_owned());
        let state =
            between(&page.body, "name=\"stateId\" value=\"", "\"").context("no stateId on the page")?;

        let redirect = match method {
            SignInMethod::Key(key) => self.prove_by_key(state, key)?,
            SignInMethod::Wallet(_) => self.prove_by_wallet(state)?,
        };
        let code = between(&redirect, "code=", "&").with_context(|| format!("no code in {redirect}"))?;

        let form = format!(
            "grant_type=authorization_code&client_id={client}&code={code}&redirect_uri={CALLBACK}&code_verifier={VERIFIER}"
        );
        text_in(&self.send("`POST /token`", form_to("/token", form), 200)?, "access_token")
    }

    fn prove_by_key(&mut self, state: &str, key: &str) -> Result<String> {
        let form = format!("stateId={state}&key={key}&do=key");
        let redirect = self.send("`POST /authorize` with the key", form_to("/authorize", form), 303)?;
        Ok(redirect.header("location").context("no redirect to the client")?.to_owned())
    }

    fn prove_by_wallet(&mut self, state: &str) -> Result<String> {
        let address = format!("0x{:040x}", 0x1000 + self.number);
        let who = json!({ "stateId": state, "address": address, "chainId": 10 });
        let nonce = self.send("`POST /siwe/nonce`", json_to("/siwe/nonce", &who), 200)?;
        let message = text_in(&nonce, "message")?;
        let signed = json!({ "stateId": state, "message": message, "signature": SIGNATURE });
        text_in(&self.send("`POST /siwe/verify`", json_to("/siwe/verify", &signed), 200)?, "redirectTo")
    }

    /// Sends a request, times it until the response is complete, and checks the status.
    fn send(&mut self, step: &'static str, mut request: Request, status: u16) -> Result<Response> {
        // Rate limits are per address; the server trusts `X-Forwarded-For` from loopback.
        let [.., a, b] = self.number.to_be_bytes();
        request.headers.push(("X-Forwarded-For", format!("10.0.{a}.{b}")));
        request.headers.extend(self.cookie.clone().map(|cookie| ("Cookie", cookie)));
        let started = Instant::now();
        let response = self.connection.send(&request)?;
        self.steps.push((step, started.elapsed()));
        ensure!(
            response.status == status,
            "{step} returned {}, expected {status}: {}",
            response.status,
            response.body
        );
        Ok(response)
    }
}

fn json_to(path: &'static str, body: &Value) -> Request {
    post(path, "application/json", body.to_string())
}

fn form_to(path: &'static str, body: String) -> Request {
    post(path, "application/x-www-form-urlencoded", body)
}

fn post(path: &'static str, kind: &str, body: String) -> Request {
    Request { method: "POST", path: path.into(), headers: vec![("Content-Type", kind.to_owned())], body }
}

fn text_in(response: &Response, name: &str) -> Result<String> {
    let value: Value = serde_json::from_str(&response.body)?;
    let text = value.get(name).and_then(Value::as_str);
    text.map(str::to_owned).with_context(|| format!("no {name} in {}", response.body))
}

/// The text after `before` and up to `after`, or to the end.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split(after).next()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests;
