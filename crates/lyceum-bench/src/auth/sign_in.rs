//! Whole sign-ins on one connection that is kept: a client registers, the page is shown, the person proves who they are, and the
//! client gets its tokens. Only the exchanges are timed.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::chain::Chain;
use crate::connection::Connection;
use lyceum_harness::exchange::{Request, Response};
use lyceum_harness::server::Server;

/// How many are measured, and how many are not, before them.
pub(super) const SIGN_IN_COUNT: usize = 200;
const WARM_UP_COUNT: usize = 10;

/// Where the person is sent back to. Nothing listens there, and nothing is sent.
const CALLBACK: &str = "http://127.0.0.1:9/callback";

/// The example of RFC 7636: what a client keeps for itself, and what it shows of it.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A signature that some key made: so the server finds out which, before it asks the chain whether the account is a
/// contract that takes it. Its point is the generator of the curve.
const SIGNATURE: &str = "0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\
                         00000000000000000000000000000000000000000000000000000000000000011b";

/// How the person proves who they are.
#[derive(Clone, Copy)]
pub(super) enum SignInMethod<'a> {
    /// By a key from the operator.
    Key(&'a str),
    /// By an account that is a contract, another one each time.
    Wallet(&'a Chain),
}

/// What was found; milliseconds.
#[derive(Default)]
pub(super) struct SignInTimes {
    /// Without the chain.
    pub(super) whole: Vec<f64>,
    /// Each request, in its order.
    pub(super) steps: Vec<(&'static str, Vec<f64>)>,
    /// How long the chain was busy each time, and how often it was asked in all.
    pub(super) chain: Vec<f64>,
    pub(super) requests: usize,
}

/// A person with a browser and a client, from an address of their own.
struct Person<'a> {
    connection: &'a mut Connection,
    number: usize,
    cookie: Option<String>,
    steps: Vec<(&'static str, Duration)>,
}

/// Signs in again and again.
pub(super) fn measure(server: &Server, way: SignInMethod<'_>) -> Result<SignInTimes> {
    let mut connection = Connection::open(server.addr)?;
    let mut found = SignInTimes::default();
    for number in 0..WARM_UP_COUNT + SIGN_IN_COUNT {
        let before = so_far(way);
        let mut person = Person { connection: &mut connection, number, cookie: None, steps: Vec::new() };
        person.sign_in(way)?;
        if number < WARM_UP_COUNT {
            continue;
        }
        let (busy, requests) = so_far(way);
        let chain = busy.saturating_sub(before.0);
        let whole: Duration = person.steps.iter().map(|(_, time)| *time).sum();
        found.whole.push(milliseconds(whole.saturating_sub(chain)));
        found.chain.push(milliseconds(chain));
        found.requests += requests - before.1;
        found.steps.resize_with(person.steps.len(), Default::default);
        for ((name, times), (step, time)) in found.steps.iter_mut().zip(person.steps) {
            *name = step;
            times.push(milliseconds(time));
        }
    }
    Ok(found)
}

/// Signs in once with a key, and returns the access token.
pub(super) fn token(server: &Server, key: &str) -> Result<String> {
    let mut connection = Connection::open(server.addr)?;
    let number = WARM_UP_COUNT + SIGN_IN_COUNT;
    Person { connection: &mut connection, number, cookie: None, steps: Vec::new() }
        .sign_in(SignInMethod::Key(key))
}

fn so_far(way: SignInMethod<'_>) -> (Duration, usize) {
    match way {
        SignInMethod::Key(_) => (Duration::ZERO, 0),
        SignInMethod::Wallet(chain) => chain.so_far(),
    }
}

impl Person<'_> {
    fn sign_in(&mut self, way: SignInMethod<'_>) -> Result<String> {
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

        let back = match way {
            SignInMethod::Key(key) => self.prove_by_key(state, key)?,
            SignInMethod::Wallet(_) => self.prove_by_wallet(state)?,
        };
        let code = between(&back, "code=", "&").with_context(|| format!("no code in {back}"))?;

        let form = format!(
            "grant_type=authorization_code&client_id={client}&code={code}&redirect_uri={CALLBACK}&code_verifier={VERIFIER}"
        );
        text_in(&self.send("`POST /token`", form_to("/token", form), 200)?, "access_token")
    }

    fn prove_by_key(&mut self, state: &str, key: &str) -> Result<String> {
        let form = format!("stateId={state}&key={key}&do=key");
        let sent_on = self.send("`POST /authorize` with the key", form_to("/authorize", form), 303)?;
        Ok(sent_on.header("location").context("the person is not sent back")?.to_owned())
    }

    fn prove_by_wallet(&mut self, state: &str) -> Result<String> {
        let address = format!("0x{:040x}", 0x1000 + self.number);
        let who = json!({ "stateId": state, "address": address, "chainId": 10 });
        let given = self.send("`POST /siwe/nonce`", json_to("/siwe/nonce", &who), 200)?;
        let message = text_in(&given, "message")?;
        let signed = json!({ "stateId": state, "message": message, "signature": SIGNATURE });
        text_in(&self.send("`POST /siwe/verify`", json_to("/siwe/verify", &signed), 200)?, "redirectTo")
    }

    /// Sends a request and times it until its whole answer is there, which must have that status.
    fn send(&mut self, step: &'static str, mut request: Request, status: u16) -> Result<Response> {
        // One address may ask only so often; a proxy on this machine is believed when it says who asks.
        let [.., a, b] = self.number.to_be_bytes();
        request.headers.push(("X-Forwarded-For", format!("10.0.{a}.{b}")));
        request.headers.extend(self.cookie.clone().map(|cookie| ("Cookie", cookie)));
        let started = Instant::now();
        let answer = self.connection.send(&request)?;
        self.steps.push((step, started.elapsed()));
        ensure!(answer.status == status, "{step} gave {}, not {status}: {}", answer.status, answer.body);
        Ok(answer)
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

fn text_in(answer: &Response, name: &str) -> Result<String> {
    let value: Value = serde_json::from_str(&answer.body)?;
    let text = value.get(name).and_then(Value::as_str);
    text.map(str::to_owned).with_context(|| format!("no {name} in {}", answer.body))
}

/// What stands after one text and before another, or the end.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split(after).next()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests;
