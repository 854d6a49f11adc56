//! The server of `oauth-as`, called over its HTTP interface, with its in-memory store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures::future::join_all;
use http::{Request, StatusCode, header::LOCATION};
use oauth_as::{
    ApprovalDecision, AuthorizationServer, AuthorizationService, Client, ClientAuth, ClientId, Clock,
    GrantType, MemoryStorage, Response, ScopeSet, ServerConfig, ServiceBuilder,
};
use serde_json::Value;

use super::{Action, ONLY_REDIRECT, REDIRECTS, Reply, Side};
use crate::{
    OFFLINE_ACCESS, Scopes,
    oauth::Params,
    tests::{ISSUER, rights},
};

pub(super) struct Theirs(Side<Server>);

struct Server {
    engine: Arc<AuthorizationServer<MemoryStorage, TestClock>>,
    service: AuthorizationService<MemoryStorage, TestClock>,
    clock: TestClock,
}

/// A clock that is advanced manually.
#[derive(Clone)]
struct TestClock(Arc<AtomicU64>);

impl Clock for TestClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

impl Theirs {
    /// Starts a server configured like ours, as far as possible.
    pub(super) async fn start(again_within: Duration) -> Self {
        let mut config = ServerConfig::new(ISSUER, format!("{ISSUER}/device"));
        config.revocation_endpoint = Some(format!("{ISSUER}/revoke"));
        config.allowed_resources =
            Some([format!("{ISSUER}/mcp").into(), format!("{ISSUER}/skills/mcp").into()].into());
        config.refresh_token_ttl = Some(Duration::from_hours(30 * 24));
        config.refresh_retry_window = again_within;
        let clock = TestClock(Arc::new(AtomicU64::new(1_794_830_400)));
        let engine = Arc::new(AuthorizationServer::with_clock(config, MemoryStorage::new(), clock.clone()));
        for (id, redirects) in [("client", &REDIRECTS[..]), ("other", &[ONLY_REDIRECT])] {
            engine.register_client(client(id, redirects)).await.unwrap();
        }
        let service = ServiceBuilder::new(engine.clone())
            .with_subject_resolver(|_| Some("person".to_owned()))
            .with_approval_resolver(|_| ApprovalDecision::Approve)
            .build()
            .unwrap();
        Self(Side::new(Server { engine, service, clock }, ["client", "other"]))
    }

    pub(super) async fn perform(&mut self, action: &Action) -> String {
        let Self(side) = self;
        let reply = match action {
            Action::Authorize(query) => side.server.authorize(&side.fill(query)).await,
            Action::Token(form) => side.server.token(side.fill(form)).await,
            Action::Together(form, times) => {
                let form = side.fill(form);
                let all = (0..*times).map(|_| {
                    let (service, form) = (side.server.service.clone(), form.clone());
                    tokio::spawn(async move { post(&service, "/token", form).await })
                });
                let all = join_all(all).await.into_iter().map(|answer| issued(answer.unwrap())).collect();
                return side.record_all(all);
            }
            Action::Revoke(form) => {
                let answer = post(&side.server.service, "/revoke", side.fill(form)).await;
                let is_done = answer.status() == StatusCode::OK;
                Reply::Other(if is_done { "done".to_owned() } else { error_of(answer) })
            }
            Action::Open(token, path) => side.server.open(&side.fill(token), path).await,
            Action::Later(seconds) => {
                side.server.clock.0.fetch_add(u64::try_from(*seconds).unwrap(), Ordering::Relaxed);
                Reply::Other(String::new())
            }
        };
        side.record(reply)
    }
}

impl Server {
    async fn authorize(&self, query: &str) -> Reply {
        let request = Request::get(format!("/authorize?{query}")).body(String::new()).unwrap();
        let answer = self.service.handle(request).await;
        let Some(sent) = answer.headers().get(LOCATION) else {
            return Reply::Other(format!("shown {}", error_of(answer)));
        };
        let sent = sent.to_str().unwrap().to_owned();
        let params = Params::parse(sent.split_once('?').unwrap().1).unwrap();
        match (params.get("code"), params.get("error")) {
            (Some(code), None) => Reply::Code(code.to_owned()),
            (None, Some(error)) => Reply::Other(format!("sent {error}")),
            _ => panic!("{sent}"),
        }
    }

    async fn token(&self, form: String) -> Reply {
        issued(post(&self.service, "/token", form).await)
    }

    /// An unbound token is accepted by every resource.
    async fn open(&self, token: &str, path: &str) -> Reply {
        let found = self.engine.introspect(token).await.unwrap();
        let is_for = |resources: &[String]| {
            resources.is_empty() || resources.iter().any(|resource| *resource == format!("{ISSUER}{path}"))
        };
        let is_open = found.is_some_and(|token| is_for(&token.resource));
        Reply::Other(if is_open { "open" } else { "closed" }.to_owned())
    }
}

fn client(id: &str, redirects: &[&str]) -> Client {
    let scopes = ScopeSet::parse(&Scopes::every(&rights()).to_string()).unwrap();
    Client {
        client_id: ClientId::new(id),
        auth: ClientAuth::Public,
        grant_types: vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
        redirect_uris: redirects.iter().map(|redirect| (*redirect).to_owned()).collect(),
        allowed_scopes: ScopeSet::parse(&format!("{scopes} {OFFLINE_ACCESS}")).unwrap(),
        default_scopes: scopes,
        name: Some("Test client".to_owned()),
        registration: None,
    }
}

async fn post(
    service: &AuthorizationService<MemoryStorage, TestClock>,
    path: &str,
    form: String,
) -> Response {
    let request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
    service.handle(request.body(form).unwrap()).await
}

fn issued(answer: Response) -> Reply {
    if answer.status() != StatusCode::OK {
        return Reply::Other(error_of(answer));
    }
    let json = json_of(answer);
    let text = |name: &str| json[name].as_str().unwrap().to_owned();
    Reply::Tokens { access: text("access_token"), refresh: text("refresh_token"), scope: text("scope") }
}

fn error_of(answer: Response) -> String {
    json_of(answer)["error"].as_str().unwrap().to_owned()
}

fn json_of(answer: Response) -> Value {
    serde_json::from_slice(&answer.into_body().into_bytes()).unwrap()
}
