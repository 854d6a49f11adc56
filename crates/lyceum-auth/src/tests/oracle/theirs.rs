//! The server of `oauth-as`, asked over HTTP as it is meant to be, with its own store in memory.

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

use super::{Came, Deed, ONLY_REDIRECT, REDIRECTS, Side};
use crate::{
    OFFLINE_ACCESS, Scopes,
    oauth::Params,
    tests::{ISSUER, rights},
};

pub(super) struct Theirs(Side<Server>);

struct Server {
    engine: Arc<AuthorizationServer<MemoryStorage, Hands>>,
    service: AuthorizationService<MemoryStorage, Hands>,
    hands: Hands,
}

/// A clock that stands still until it is moved.
#[derive(Clone)]
struct Hands(Arc<AtomicU64>);

impl Clock for Hands {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

impl Theirs {
    /// Set up as ours is, as far as it can be.
    pub(super) async fn start(again_within: Duration) -> Self {
        let mut config = ServerConfig::new(ISSUER, format!("{ISSUER}/device"));
        config.revocation_endpoint = Some(format!("{ISSUER}/revoke"));
        config.allowed_resources =
            Some([format!("{ISSUER}/mcp").into(), format!("{ISSUER}/skills/mcp").into()].into());
        config.refresh_token_ttl = Some(Duration::from_hours(30 * 24));
        config.refresh_retry_window = again_within;
        let hands = Hands(Arc::new(AtomicU64::new(1_794_830_400)));
        let engine = Arc::new(AuthorizationServer::with_clock(config, MemoryStorage::new(), hands.clone()));
        for (id, redirects) in [("client", &REDIRECTS[..]), ("other", &[ONLY_REDIRECT])] {
            engine.register_client(client(id, redirects)).await.unwrap();
        }
        let service = ServiceBuilder::new(engine.clone())
            .with_subject_resolver(|_| Some("person".to_owned()))
            .with_approval_resolver(|_| ApprovalDecision::Approve)
            .build()
            .unwrap();
        Self(Side::new(Server { engine, service, hands }, ["client", "other"]))
    }

    pub(super) async fn does(&mut self, deed: &Deed) -> String {
        let Self(side) = self;
        let came = match deed {
            Deed::Authorize(query) => side.server.authorize(&side.fill(query)).await,
            Deed::Token(form) => side.server.token(side.fill(form)).await,
            Deed::Together(form, times) => {
                let form = side.fill(form);
                let all = (0..*times).map(|_| {
                    let (service, form) = (side.server.service.clone(), form.clone());
                    tokio::spawn(async move { post(&service, "/token", form).await })
                });
                let all = join_all(all).await.into_iter().map(|answer| issued(answer.unwrap())).collect();
                return side.all_came(all);
            }
            Deed::Revoke(form) => {
                let answer = post(&side.server.service, "/revoke", side.fill(form)).await;
                let is_done = answer.status() == StatusCode::OK;
                Came::Other(if is_done { "done".to_owned() } else { error_of(answer) })
            }
            Deed::Open(token, path) => side.server.open(&side.fill(token), path).await,
            Deed::Later(seconds) => {
                side.server.hands.0.fetch_add(u64::try_from(*seconds).unwrap(), Ordering::Relaxed);
                Came::Other(String::new())
            }
        };
        side.came(came)
    }
}

impl Server {
    async fn authorize(&self, query: &str) -> Came {
        let request = Request::get(format!("/authorize?{query}")).body(String::new()).unwrap();
        let answer = self.service.handle(request).await;
        let Some(sent) = answer.headers().get(LOCATION) else {
            return Came::Other(format!("shown {}", error_of(answer)));
        };
        let sent = sent.to_str().unwrap().to_owned();
        let params = Params::parse(sent.split_once('?').unwrap().1).unwrap();
        match (params.get("code"), params.get("error")) {
            (Some(code), None) => Came::Code(code.to_owned()),
            (None, Some(error)) => Came::Other(format!("sent {error}")),
            _ => panic!("{sent}"),
        }
    }

    async fn token(&self, form: String) -> Came {
        issued(post(&self.service, "/token", form).await)
    }

    /// A token that is bound to nothing is one that every resource takes.
    async fn open(&self, token: &str, path: &str) -> Came {
        let found = self.engine.introspect(token).await.unwrap();
        let is_for = |resources: &[String]| {
            resources.is_empty() || resources.iter().any(|resource| *resource == format!("{ISSUER}{path}"))
        };
        let is_open = found.is_some_and(|token| is_for(&token.resource));
        Came::Other(if is_open { "open" } else { "closed" }.to_owned())
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

async fn post(service: &AuthorizationService<MemoryStorage, Hands>, path: &str, form: String) -> Response {
    let request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
    service.handle(request.body(form).unwrap()).await
}

fn issued(answer: Response) -> Came {
    if answer.status() != StatusCode::OK {
        return Came::Other(error_of(answer));
    }
    let said = json_of(answer);
    let text = |name: &str| said[name].as_str().unwrap().to_owned();
    Came::Tokens { access: text("access_token"), refresh: text("refresh_token"), scope: text("scope") }
}

fn error_of(answer: Response) -> String {
    json_of(answer)["error"].as_str().unwrap().to_owned()
}

fn json_of(answer: Response) -> Value {
    serde_json::from_slice(&answer.into_body().into_bytes()).unwrap()
}
