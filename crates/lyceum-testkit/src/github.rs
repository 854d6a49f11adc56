//! A fake GitHub: users with tokens, their teams, and OAuth codes.
//!
//! It responds as GitHub documents it: 401 for an invalid token, 404 for a membership that does not exist or is not
//! visible, and 200 with an error for an invalid code.

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

/// A fake GitHub on a free port; stops on drop.
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
    /// Starts it without users.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        let seen = state.clone();
        let handler = move |request| respond(request, seen.clone());
        let running = tokio::spawn(serve(listener, handler)).abort_handle();
        Ok(Self { address, state, running })
    }

    /// The base URL of both web and API.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a user with tokens, and with organisations and teams: `acme`, `acme/core`.
    pub fn add_person(&self, id: u64, login: &str, tokens: &[&str], teams: &[&str]) {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let person = Person { id, login: login.to_owned(), tokens: own(tokens), teams: own(teams) };
        self.state().people.push(person);
    }

    /// Adds a token that may read team memberships.
    pub fn add_reader(&self, token: &str) {
        self.state().readers.push(token.to_owned());
    }

    /// Adds a code that can be exchanged for that token, once.
    pub fn add_code(&self, code: &str, token: &str) {
        self.state().codes.push((code.to_owned(), token.to_owned()));
    }

    /// Removes a user from all teams.
    pub fn leave_teams(&self, login: &str) {
        for person in self.state().people.iter_mut().filter(|person| person.login == login) {
            person.teams.clear();
        }
    }

    /// Responds to everything with that status; `None` restores normal behavior.
    pub fn answer_with(&self, status: Option<u16>) {
        self.state().status = status;
    }

    /// The requested paths, in order.
    pub fn requests(&self) -> Vec<String> {
        self.state().requests.iter().map(|(path, _)| path.clone()).collect()
    }

    /// The tokens of the requests for a path, in order.
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
    let (status, body) = match state.status {
        Some(status) => (status, json!({ "message": "configured failure" })),
        None if path == "/login/oauth/access_token" => (200, state.exchange(&body)),
        None => state.respond(&path, token.as_deref()),
    };
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response
}

impl State {
    fn exchange(&mut self, form: &[u8]) -> Value {
        let form = String::from_utf8_lossy(form).into_owned();
        let code = form.split('&').find_map(|pair| pair.strip_prefix("code=")).unwrap_or_default();
        let position = self.codes.iter().position(|(known, _)| known == code);
        match position.map(|position| self.codes.remove(position)) {
            Some((_, token)) => json!({ "access_token": token, "token_type": "bearer", "scope": "" }),
            None => {
                json!({ "error": "bad_verification_code", "error_description": "The code is incorrect." })
            }
        }
    }

    fn respond(&self, path: &str, token: Option<&str>) -> (u16, Value) {
        let sender =
            self.people.iter().find(|person| person.tokens.iter().any(|own| Some(own.as_str()) == token));
        let is_reader = self.readers.iter().any(|reader| Some(reader.as_str()) == token);
        if sender.is_none() && !is_reader {
            return (401, json!({ "message": "Bad credentials" }));
        }
        let not_found = (404, json!({ "message": "Not Found" }));
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (team, login) = match parts.as_slice() {
            ["user"] => return sender.map_or(not_found, |person| (200, person.to_json())),
            ["user", id] => {
                let person = self.people.iter().find(|person| person.id.to_string() == *id);
                return person.map_or(not_found, |person| (200, person.to_json()));
            }
            ["orgs", organisation, "memberships", login] => ((*organisation).to_owned(), *login),
            ["orgs", organisation, "teams", team, "memberships", login] => {
                (format!("{organisation}/{team}"), *login)
            }
            _ => return not_found,
        };
        let person = self.people.iter().find(|person| person.login == login);
        match person.filter(|person| is_reader && person.teams.contains(&team)) {
            Some(_) => (200, json!({ "state": "active", "role": "member" })),
            None => not_found,
        }
    }
}

impl Person {
    fn to_json(&self) -> Value {
        json!({ "id": self.id, "login": self.login, "avatar_url": "https://avatars.example.org/u/1" })
    }
}
