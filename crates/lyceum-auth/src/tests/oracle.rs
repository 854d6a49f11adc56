//! Differential tests: the same requests to our server and to the crate `oauth-as`.
//!
//! Where the two differ, the step says why ours is intended, and both outcomes are asserted. Compared are
//! outcomes: where an error goes, its code, and what is still valid afterwards; not error descriptions.
//! `messages.rs` compares our SIWE parser with the crate `siwe`.

mod authorize;
mod exchange;
mod messages;
mod ours;
mod refresh;
mod revoke;
mod theirs;

use std::{collections::BTreeMap, time::Duration};

use super::{CALLBACK, ISSUER, challenge, verifier};
use ours::Ours;
use theirs::Theirs;

/// Redirect URIs of the client.
const REDIRECTS: [&str; 4] = [
    CALLBACK,
    "http://localhost:4000/callback",
    "http://127.0.0.1/portless",
    "https://app.example.org/callback?tenant=acme",
];

/// Redirect URI of the other client.
const ONLY_REDIRECT: &str = "https://other.example.org/callback";

/// A valid authorization request, for two of the four scopes.
const GOOD: &str = "response_type=code&client_id={client}&redirect_uri={callback}&code_challenge={challenge}\
    &code_challenge_method=S256&state=s1&scope=knowledge:read%20mcp:read&resource={issuer}/mcp";

/// A valid token request with the first code.
const REDEEM: &str = "grant_type=authorization_code&client_id={client}&code={code1}&redirect_uri={callback}\
    &code_verifier={verifier}";

/// A token request with the first refresh token.
const REFRESH: &str = "grant_type=refresh_token&client_id={client}&refresh_token={refresh1}";

/// Outcome of a token request after `GOOD`.
const BOTH_SCOPES: &str = "tokens for knowledge:read mcp:read";

/// An action. Names in braces stand for values that differ between the servers.
#[derive(Debug, Clone)]
enum Action {
    /// An authorization request that the user approves.
    Authorize(String),
    /// A token request.
    Token(String),
    /// Concurrent token requests.
    Together(String, usize),
    /// A revocation request.
    Revoke(String),
    /// A request to one of our resources with an access token.
    Open(String, &'static str),
    /// Advances the clock, in seconds.
    Later(i64),
}

/// An action with its expected outcomes.
#[derive(Debug, Clone)]
struct Step {
    action: Action,
    ours: String,
    theirs: String,
    /// Why the outcomes differ, if they do.
    why: Option<&'static str>,
    /// Another outcome that theirs may have; then the rest is skipped for them.
    or_none: Option<&'static str>,
}

impl Step {
    fn new(action: Action, outcome: &str) -> Self {
        Self { action, ours: outcome.to_owned(), theirs: outcome.to_owned(), why: None, or_none: None }
    }

    /// Expects another outcome of theirs, with the reason.
    fn theirs(mut self, outcome: &str, why: &'static str) -> Self {
        self.theirs = outcome.to_owned();
        self.why = Some(why);
        self
    }

    /// Allows theirs to serve none of several concurrent requests: the second may arrive while the tokens of the
    /// first are being written.
    fn or_none_of_theirs(mut self, outcome: &'static str) -> Self {
        self.or_none = Some(outcome);
        self
    }
}

fn authorize(query: &str, outcome: &str) -> Step {
    Step::new(Action::Authorize(query.to_owned()), outcome)
}

fn token(form: &str, outcome: &str) -> Step {
    Step::new(Action::Token(form.to_owned()), outcome)
}

fn together(form: &str, times: usize, outcome: &str) -> Step {
    Step::new(Action::Together(form.to_owned(), times), outcome)
}

fn revoke(form: &str, outcome: &str) -> Step {
    Step::new(Action::Revoke(form.to_owned()), outcome)
}

fn open(token: &str, outcome: &str) -> Step {
    Step::new(Action::Open(token.to_owned(), "/mcp"), outcome)
}

fn later(seconds: i64) -> Step {
    Step::new(Action::Later(seconds), "")
}

/// A valid authorization request, and the token request after it.
fn signed_in() -> [Step; 2] {
    [authorize(GOOD, "code"), token(REDEEM, BOTH_SCOPES)]
}

/// One of the two servers, with the values it issued, by name.
struct Side<S> {
    server: S,
    names: BTreeMap<String, String>,
}

impl<S> Side<S> {
    fn new(server: S, [client, other]: [&str; 2]) -> Self {
        let names = [
            ("client", client),
            ("other", other),
            ("callback", CALLBACK),
            ("issuer", ISSUER),
            ("challenge", &challenge()),
            ("verifier", &verifier()),
            ("wrong", &"w".repeat(43)),
        ];
        let names = names.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { server, names }
    }

    fn fill(&self, text: &str) -> String {
        let filled = self
            .names
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value));
        assert!(!filled.contains('{'), "{filled}");
        filled
    }

    /// Names an issued value: `code1`, then `code2`.
    fn keep(&mut self, kind: &str, value: String) {
        let number = (1..).find(|number| !self.names.contains_key(&format!("{kind}{number}"))).unwrap();
        self.names.insert(format!("{kind}{number}"), value);
    }

    fn record(&mut self, reply: Reply) -> String {
        match reply {
            Reply::Code(code) => {
                self.keep("code", code);
                "code".to_owned()
            }
            Reply::Tokens { access, .. } if self.names.values().any(|known| *known == access) => {
                "the same tokens".to_owned()
            }
            Reply::Tokens { access, refresh, scope } => {
                self.keep("access", access);
                self.keep("refresh", refresh);
                format!("tokens for {scope}")
            }
            Reply::Other(outcome) => outcome,
        }
    }

    /// Summarizes concurrent replies: how many had which outcome.
    fn record_all(&mut self, all: Vec<Reply>) -> String {
        let mut counts = BTreeMap::<String, usize>::new();
        for reply in all {
            *counts.entry(self.record(reply)).or_default() += 1;
        }
        let texts: Vec<String> = counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        texts.join(", ")
    }
}

/// Reply of a server.
enum Reply {
    /// An authorization code.
    Code(String),
    /// Tokens.
    Tokens { access: String, refresh: String, scope: String },
    /// Any other outcome: `open`, `sent invalid_scope`.
    Other(String),
}

/// Performs the steps on new instances of both servers and compares the outcomes.
async fn check(steps: &[Step]) {
    check_with(Duration::ZERO, steps).await;
}

/// Like [`check`], with a replay window for refresh tokens on their side too.
async fn check_with(again_within: Duration, steps: &[Step]) {
    let mut ours = Ours::start();
    let mut theirs = Some(Theirs::start(again_within).await);
    for (number, step) in steps.iter().enumerate() {
        let done = format!("step {number}: {:?}", step.action);
        assert_eq!(
            step.why.is_some(),
            step.ours != step.theirs,
            "a reason is required where they differ, {done}"
        );
        assert_eq!(ours.perform(&step.action).await, step.ours, "ours, {done}");
        let Some(server) = &mut theirs else { continue };
        let reply = server.perform(&step.action).await;
        if step.or_none == Some(reply.as_str()) {
            theirs = None;
            continue;
        }
        assert_eq!(reply, step.theirs, "theirs, {done}");
    }
}
