//! The same requests put to our server and to another, the crate `oauth-as`, and what comes of them compared.
//!
//! Where the two differ the step says why ours is meant so, and both answers are held. Compared are outcomes: where a
//! refusal goes, its code, and what is still good afterwards; not the words of a refusal. Beside them, in `messages.rs`,
//! our reader of sign-in messages and another.

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

/// Where the client of the tests may have its codes sent.
const REDIRECTS: [&str; 4] = [
    CALLBACK,
    "http://localhost:4000/callback",
    "http://127.0.0.1/portless",
    "https://app.example.org/callback?tenant=acme",
];

/// Where the other client may.
const ONLY_REDIRECT: &str = "https://other.example.org/callback";

/// A request that is good, for two of the four scopes.
const GOOD: &str = "response_type=code&client_id={client}&redirect_uri={callback}&code_challenge={challenge}\
    &code_challenge_method=S256&state=s1&scope=knowledge:read%20mcp:read&resource={issuer}/mcp";

/// A code for tokens, as it should be.
const REDEEM: &str = "grant_type=authorization_code&client_id={client}&code={code1}&redirect_uri={callback}\
    &code_verifier={verifier}";

/// The first refresh token for more.
const REFRESH: &str = "grant_type=refresh_token&client_id={client}&refresh_token={refresh1}";

/// What tokens by `GOOD` are for.
const BOTH_SCOPES: &str = "tokens for knowledge:read mcp:read";

/// What is done; the texts have names in braces for what only one of the two servers knows.
#[derive(Debug, Clone)]
enum Deed {
    /// A client sends a person, who says yes.
    Authorize(String),
    /// A client asks for tokens.
    Token(String),
    /// The same, so many times at once.
    Together(String, usize),
    /// A client takes a token back.
    Revoke(String),
    /// A request with an access token for one of our resources.
    Open(String, &'static str),
    /// Time passes, in seconds.
    Later(i64),
}

/// What is done, and what comes of it here and there.
#[derive(Debug, Clone)]
struct Step {
    deed: Deed,
    ours: String,
    theirs: String,
    /// Why the two differ, where they do.
    why: Option<&'static str>,
    /// What may come of it there as well; then there is nothing to go on with.
    or_none: Option<&'static str>,
}

impl Step {
    fn new(deed: Deed, outcome: &str) -> Self {
        Self { deed, ours: outcome.to_owned(), theirs: outcome.to_owned(), why: None, or_none: None }
    }

    /// They do otherwise, and that is why we do not.
    fn theirs(mut self, outcome: &str, why: &'static str) -> Self {
        self.theirs = outcome.to_owned();
        self.why = Some(why);
        self
    }

    /// Among several at once theirs may serve nobody: the second may come while the tokens of the first are written.
    fn or_none_of_theirs(mut self, outcome: &'static str) -> Self {
        self.or_none = Some(outcome);
        self
    }
}

fn authorize(query: &str, outcome: &str) -> Step {
    Step::new(Deed::Authorize(query.to_owned()), outcome)
}

fn token(form: &str, outcome: &str) -> Step {
    Step::new(Deed::Token(form.to_owned()), outcome)
}

fn together(form: &str, times: usize, outcome: &str) -> Step {
    Step::new(Deed::Together(form.to_owned(), times), outcome)
}

fn revoke(form: &str, outcome: &str) -> Step {
    Step::new(Deed::Revoke(form.to_owned()), outcome)
}

fn open(token: &str, outcome: &str) -> Step {
    Step::new(Deed::Open(token.to_owned(), "/mcp"), outcome)
}

fn later(seconds: i64) -> Step {
    Step::new(Deed::Later(seconds), "")
}

/// A good request, and the tokens for it.
fn signed_in() -> [Step; 2] {
    [authorize(GOOD, "code"), token(REDEEM, BOTH_SCOPES)]
}

/// One of the two servers, with the names that stand for what it gave out.
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

    /// Gives what came a name: `code1`, then `code2`.
    fn keep(&mut self, kind: &str, value: String) {
        let number = (1..).find(|number| !self.names.contains_key(&format!("{kind}{number}"))).unwrap();
        self.names.insert(format!("{kind}{number}"), value);
    }

    fn came(&mut self, came: Came) -> String {
        match came {
            Came::Code(code) => {
                self.keep("code", code);
                "code".to_owned()
            }
            Came::Tokens { access, .. } if self.names.values().any(|known| *known == access) => {
                "the same tokens".to_owned()
            }
            Came::Tokens { access, refresh, scope } => {
                self.keep("access", access);
                self.keep("refresh", refresh);
                format!("tokens for {scope}")
            }
            Came::Other(outcome) => outcome,
        }
    }

    /// Several at once, as one text: how many came to what.
    fn all_came(&mut self, all: Vec<Came>) -> String {
        let mut counts = BTreeMap::<String, usize>::new();
        for came in all {
            *counts.entry(self.came(came)).or_default() += 1;
        }
        let texts: Vec<String> = counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        texts.join(", ")
    }
}

/// What a server gives back.
enum Came {
    /// A code for the client.
    Code(String),
    /// Tokens for the client.
    Tokens { access: String, refresh: String, scope: String },
    /// Anything else, in a word: `open`, `sent invalid_scope`.
    Other(String),
}

/// Does the steps with both servers, each new, and holds what comes of them.
async fn check(steps: &[Step]) {
    check_with(Duration::ZERO, steps).await;
}

/// The same with a time in which they too answer a refresh token again.
async fn check_with(again_within: Duration, steps: &[Step]) {
    let mut ours = Ours::start();
    let mut theirs = Some(Theirs::start(again_within).await);
    for (number, step) in steps.iter().enumerate() {
        let done = format!("step {number}: {:?}", step.deed);
        assert_eq!(step.why.is_some(), step.ours != step.theirs, "a reason where it is needed, {done}");
        assert_eq!(ours.does(&step.deed).await, step.ours, "ours, {done}");
        let Some(server) = &mut theirs else { continue };
        let came = server.does(&step.deed).await;
        if step.or_none == Some(came.as_str()) {
            theirs = None;
            continue;
        }
        assert_eq!(came, step.theirs, "theirs, {done}");
    }
}
