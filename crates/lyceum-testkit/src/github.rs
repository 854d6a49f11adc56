//! A fake GitHub: users with tokens, their teams, OAuth codes, the contents of repositories, and pull requests.
//!
//! It responds as GitHub documents it: 401 for an invalid token, 404 for a membership that does not exist or is not
//! visible, and 200 with an error for an invalid code.

mod app;
mod contents;
mod git_data;

use std::{
    collections::VecDeque,
    future::pending,
    io,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Response, StatusCode, Uri, body::Incoming, header};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch, task::AbortHandle};

pub use app::app_key;
pub use contents::{ContentsRequest, ScriptedResponse};
pub use git_data::TestPullRequest;

use crate::serving::serve;
use app::Apps;
use contents::Repositories;
use git_data::GitData;

/// A fake GitHub on a free port; stops on drop.
pub struct TestGitHub {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    /// Whether the contents of repositories are held back.
    held: watch::Sender<bool>,
    running: AbortHandle,
}

#[derive(Default)]
struct State {
    apps: Apps,
    repositories: Repositories,
    /// Repositories whose Git objects can be written.
    writable: Vec<GitData>,
    /// The next responses to requests whose method and path end so.
    faults: Vec<(String, ScriptedResponse)>,
    /// The next responses about contents.
    script: VecDeque<ScriptedResponse>,
    contents: Vec<ContentsRequest>,
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
        let (held, seen) = (watch::Sender::new(false), state.clone());
        let holding = held.subscribe();
        let handler = move |request| respond(request, seen.clone(), holding.clone());
        let running = tokio::spawn(serve(listener, handler)).abort_handle();
        Ok(Self { address, state, held, running })
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

    /// Installs an app, with the key [`app_key`]; its tokens are `ghs_` and a number, and valid for that long.
    pub fn install_app(&self, app_id: u64, installation_id: u64, lifetime: Duration) {
        self.state().apps.install(app_id, installation_id, lifetime);
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

    /// Adds a repository that everyone may read who has a valid token.
    pub fn add_repository(&self, name: &str) {
        self.state().repositories.add(name, None);
    }

    /// Adds a repository that only the owners of these tokens may read; for everyone else it does not exist.
    pub fn add_private_repository(&self, name: &str, readers: &[&str]) {
        self.state().repositories.add(name, Some(readers));
    }

    /// Renames a repository; the old name is redirected.
    pub fn rename_repository(&self, from: &str, to: &str) {
        self.state().repositories.rename(from, to);
    }

    /// Redirects every request for contents to another origin.
    pub fn redirect_contents(&self, origin: &str) {
        self.state().repositories.redirect_to(origin);
    }

    /// Writes a file to the branch `main`.
    pub fn write(&self, repo: &str, path: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.write_to(repo, "main", path, bytes)
    }

    /// Writes a file to a branch.
    pub fn write_to(&self, repo: &str, branch: &str, path: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.state().repositories.write(repo, branch, path, bytes.as_ref())
    }

    /// Deletes a file from the branch `main`.
    pub fn remove(&self, repo: &str, path: &str) {
        self.state().repositories.remove(repo, "main", path);
    }

    /// Adds a symbolic link to the branch `main`.
    pub fn link(&self, repo: &str, path: &str, target: &str) {
        self.state().repositories.link(repo, "main", path, target);
    }

    /// Adds a submodule to the branch `main`.
    pub fn add_submodule(&self, repo: &str, path: &str, url: &str) {
        self.state().repositories.submodule(repo, "main", path, url);
    }

    /// Prescribes the next responses about contents.
    pub fn script(&self, responses: impl IntoIterator<Item = ScriptedResponse>) {
        self.state().script.extend(responses);
    }

    /// Serves the Git Data API and pull requests of a bare repository.
    pub fn add_writable_repository(&self, name: &str, folder: &Path) {
        let (folder, name) = (folder.to_owned(), name.to_owned());
        self.state().writable.push(GitData { folder, name, pulls: Vec::new(), has_no_drafts: false });
    }

    /// Prescribes the response to the next request whose method and path end so, such as `POST git/refs`.
    pub fn fail_at(&self, request: &str, response: ScriptedResponse) {
        self.state().faults.push((request.to_owned(), response));
    }

    /// Refuses draft pull requests.
    pub fn refuse_drafts(&self) {
        self.state().writable.iter_mut().for_each(|one| one.has_no_drafts = true);
    }

    /// All pull requests of a repository.
    pub fn pull_requests(&self, repo: &str) -> Vec<TestPullRequest> {
        self.state()
            .writable
            .iter()
            .filter(|one| one.name == repo)
            .flat_map(|one| one.pulls.clone())
            .collect()
    }

    /// Merges or closes a pull request, without touching the branches.
    pub fn end_pull_request(&self, repo: &str, number: usize, login: &str, is_merged: bool) {
        let mut state = self.state();
        let pulls = state.writable.iter_mut().filter(|one| one.name == repo).flat_map(|one| &mut one.pulls);
        pulls
            .filter(|one| one.number == number)
            .for_each(|one| one.ended = Some((login.to_owned(), is_merged)));
    }

    /// Holds responses about contents back, until released.
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Sends the responses that were held back.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// The requests about contents, in order.
    pub fn contents_requests(&self) -> Vec<ContentsRequest> {
        self.state().contents.clone()
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

async fn respond(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
    mut held: watch::Receiver<bool>,
) -> Response<Full<Bytes>> {
    let (method, path, uri, headers) = (
        request.method().clone(),
        request.uri().path().to_owned(),
        request.uri().clone(),
        request.headers().clone(),
    );
    let token = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let body = Limited::new(request.into_body(), 1024 * 1024).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    state.lock().unwrap_or_else(PoisonError::into_inner).requests.push((path.clone(), token.clone()));
    if path.starts_with("/repos/") {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let asked = ContentsRequest {
            branch: uri.query().and_then(|query| query.strip_prefix("ref=")).unwrap_or_default().to_owned(),
            accept: text(header::ACCEPT).to_owned(),
            is_conditional: headers.contains_key(header::IF_NONE_MATCH),
            path,
            token,
        };
        let scripted = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.contents.push(asked.clone());
            state.script.pop_front().or_else(|| state.fault_at(&format!("{method} {}", asked.path)))
        };
        // The sender is never dropped before the server.
        let _released = held.wait_for(|is_held| !is_held).await.is_ok();
        return match scripted {
            Some(ScriptedResponse::Never) => pending().await,
            Some(ScriptedResponse::Status(status, headers, message)) => {
                scripted_response(status, &headers, message)
            }
            Some(ScriptedResponse::Lost) => {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                let _lost = state.respond_about_git(method.as_str(), &uri, &body);
                contents::answer(502, json!({ "message": "Bad Gateway" }).to_string())
            }
            None => {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                if !state.is_known(asked.token.as_deref()) {
                    return contents::answer(401, json!({ "message": "Bad credentials" }).to_string());
                }
                match state.respond_about_git(method.as_str(), &uri, &body) {
                    Some((status, body)) => contents::answer(status, body.to_string()),
                    None => state.repositories.respond(&asked, &uri.to_string(), &headers),
                }
            }
        };
    }
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let of_app = state.apps.respond(&path, token.as_deref()).filter(|_| state.status.is_none());
    let (status, body) = match state.status {
        Some(status) => (status, json!({ "message": "configured failure" })),
        None if of_app.is_some() => of_app.unwrap_or_default(),
        None if path == "/login/oauth/access_token" => (200, state.exchange(&body)),
        None => state.respond(&path, token.as_deref()),
    };
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response
}

fn scripted_response(
    status: u16,
    headers: &[(&'static str, String)],
    message: &str,
) -> Response<Full<Bytes>> {
    let mut response = contents::answer(status, json!({ "message": message }).to_string());
    for (name, value) in headers {
        if let Ok(value) = header::HeaderValue::from_str(value) {
            response.headers_mut().insert(header::HeaderName::from_static(name), value);
        }
    }
    response
}

impl State {
    /// Takes the response that is prescribed for a request.
    fn fault_at(&mut self, request: &str) -> Option<ScriptedResponse> {
        let is_meant = |wanted: &str| {
            wanted.split_once(' ').is_some_and(|(method, path)| {
                request.starts_with(&format!("{method} ")) && request.ends_with(path)
            })
        };
        let position = self.faults.iter().position(|(wanted, _)| is_meant(wanted))?;
        Some(self.faults.remove(position).1)
    }

    /// Answers a request about Git objects or pull requests.
    fn respond_about_git(&mut self, method: &str, uri: &Uri, body: &[u8]) -> Option<(u16, Value)> {
        let path = uri.path();
        self.writable.iter_mut().find_map(|one| {
            let below = path.strip_prefix(&format!("/repos/{}/", one.name))?;
            one.respond(method, below, uri.query().unwrap_or_default(), body)
        })
    }

    /// Whether a request without a token, or with that token, is answered at all.
    fn is_known(&self, token: Option<&str>) -> bool {
        let Some(token) = token else { return true };
        let mut tokens = self.people.iter().flat_map(|person| &person.tokens).chain(&self.readers);
        tokens.any(|known| known == token)
    }

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
