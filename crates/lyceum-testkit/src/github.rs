//! GitHub as tests need it: people with their tokens, the teams they are in, and sign-in with a code.
//!
//! It answers as GitHub documents it: 401 for a token that is not good, 404 for a membership that is not there or not
//! to be seen, and 200 with an error in it for a code that is not good.

use std::{
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

/// GitHub on a port of its own; it ends when it is dropped.
pub struct TestGitHub {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    running: AbortHandle,
}

#[derive(Default)]
struct State {
    people: Vec<Person>,
    readers: Vec<String>,
    codes: Vec<(String, String)>,
    status: Option<u16>,
    requests: Vec<(String, Option<String>)>,
}

struct Person {
    id: u64,
    login: String,
    tokens: Vec<String>,
    teams: Vec<String>,
}

impl TestGitHub {
    /// Starts it, with nobody there.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        let seen = state.clone();
        let answer = move |request| respond(request, seen.clone());
        let running = tokio::spawn(serve(listener, answer)).abort_handle();
        Ok(Self { address, state, running })
    }

    /// Where people sign in, and where programs ask.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a person with their tokens, and the organisations and teams they are in: `acme`, `acme/core`.
    pub fn add_person(&self, id: u64, login: &str, tokens: &[&str], teams: &[&str]) {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let person = Person { id, login: login.to_owned(), tokens: own(tokens), teams: own(teams) };
        self.state().people.push(person);
    }

    /// Adds a token that may see who is in which team.
    pub fn add_reader(&self, token: &str) {
        self.state().readers.push(token.to_owned());
    }

    /// Lets that code be exchanged for that token, once.
    pub fn add_code(&self, code: &str, token: &str) {
        self.state().codes.push((code.to_owned(), token.to_owned()));
    }

    /// Takes a person out of every team.
    pub fn leave_teams(&self, login: &str) {
        for person in self.state().people.iter_mut().filter(|person| person.login == login) {
            person.teams.clear();
        }
    }

    /// Answers everything with that status from now on, or as it should.
    pub fn answer_with(&self, status: Option<u16>) {
        self.state().status = status;
    }

    /// The paths that were asked for, in order.
    pub fn requests(&self) -> Vec<String> {
        self.state().requests.iter().map(|(path, _)| path.clone()).collect()
    }

    /// The tokens that a path was asked for with, in order.
    pub fn tokens_of(&self, path: &str) -> Vec<String> {
        let requests = &self.state().requests;
        requests
            .iter()
            .filter(|(requests, _)| requests == path)
            .filter_map(|(_, token)| token.clone())
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TestGitHub {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn respond(request: Request<Incoming>, state: Arc<Mutex<State>>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    let token = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let body = Limited::new(request.into_body(), 64 * 1024).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.requests.push((path.clone(), token.clone()));
    let (status, answer) = match state.status {
        Some(status) => (status, json!({ "message": "as the test wants it" })),
        None if path == "/login/oauth/access_token" => (200, state.exchange(&body)),
        None => state.answer(&path, token.as_deref()),
    };
    let mut response = Response::new(Full::from(answer.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response
}

impl State {
    fn exchange(&mut self, form: &[u8]) -> Value {
        let form = String::from_utf8_lossy(form).into_owned();
        let code = form.split('&').find_map(|pair| pair.strip_prefix("code=")).unwrap_or_default();
        let place = self.codes.iter().position(|(known, _)| known == code);
        match place.map(|place| self.codes.remove(place)) {
            Some((_, token)) => json!({ "access_token": token, "token_type": "bearer", "scope": "" }),
            None => {
                json!({ "error": "bad_verification_code", "error_description": "The code is incorrect." })
            }
        }
    }

    fn answer(&self, path: &str, token: Option<&str>) -> (u16, Value) {
        let sender =
            self.people.iter().find(|person| person.tokens.iter().any(|own| Some(own.as_str()) == token));
        let is_reader = self.readers.iter().any(|reader| Some(reader.as_str()) == token);
        if sender.is_none() && !is_reader {
            return (401, json!({ "message": "Bad credentials" }));
        }
        let nothing = (404, json!({ "message": "Not Found" }));
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (team, login) = match parts.as_slice() {
            ["user"] => return sender.map_or(nothing, |person| (200, person.shown())),
            ["user", id] => {
                let person = self.people.iter().find(|person| person.id.to_string() == *id);
                return person.map_or(nothing, |person| (200, person.shown()));
            }
            ["orgs", organisation, "memberships", login] => ((*organisation).to_owned(), *login),
            ["orgs", organisation, "teams", team, "memberships", login] => {
                (format!("{organisation}/{team}"), *login)
            }
            _ => return nothing,
        };
        let person = self.people.iter().find(|person| person.login == login);
        match person.filter(|person| is_reader && person.teams.contains(&team)) {
            Some(_) => (200, json!({ "state": "active", "role": "member" })),
            None => nothing,
        }
    }
}

impl Person {
    fn shown(&self) -> Value {
        json!({ "id": self.id, "login": self.login, "avatar_url": "https://avatars.example.org/u/1" })
    }
}
