//! A route: one method and path, what answers there, and everything that the edge has to know of it before that.
//!
//! The default is the closed one: for callers that the gate lets in, pages of allowed origins, the shared rate limit, no body.

use std::borrow::Cow;

use axum::{
    body::Body,
    handler::Handler,
    response::{IntoResponse, Response},
    routing::{MethodRouter, any, delete, get, post},
};
use http::Method;
use http_body_util::Limited;

use super::{ApiError, api::Endpoint};
use crate::{app::App, config::Limits, mcp};

/// One row of the route table. Nothing else makes a path of the program reachable.
pub struct Route {
    /// The method; every one where there is none.
    pub(super) method: Option<Method>,
    pub(super) path: Cow<'static, str>,
    pub(super) policy: Policy,
    pub(super) doc: Option<&'static Endpoint>,
    pub(super) handler: MethodRouter<App>,
}

/// What holds for a request before its handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Who may call.
    pub audience: Audience,
    /// Which pages may call.
    pub cors: Cors,
    /// How often strangers may call.
    pub rate: RateClass,
    /// How large a body may be.
    pub body: BodyLimit,
    /// How refusals are written, and which resource a token is for.
    pub protocol: Protocol,
    /// Whether it is answered while the server stops, on the reserved connections and on the operator listener.
    pub is_probe: bool,
}

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Anyone; credentials are not looked at. For what is needed to sign in, liveness, and senders that prove themselves.
    Public,
    /// Anyone; a token that is sent is checked, and its holder may be told more.
    Optional,
    /// Whoever the gate lets in: strangers only where `auth.anonymous` says so.
    Caller,
    /// Somebody who signed in, also where strangers are let in.
    SignedIn,
    /// Operators, where strangers are not let in.
    Operator,
}

/// Pages of which origins may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cors {
    /// Those of `server.allowed_origins`.
    AllowedOrigins,
    /// All: clients in a browser need it before they have a token.
    AnyOrigin,
    /// All may read where the server is public, and caches may keep what they read; else the allowed ones.
    PublicRead,
}

/// Which rate limit strangers meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateClass {
    /// That of sign-ins, by address: each request costs us something.
    SignIn,
    /// That of its address, and that of all addresses together.
    Shared,
    /// That of its address alone, so that a flood elsewhere keeps nobody from finding out how to sign in.
    Own,
    /// None: probes, and webhooks, which nobody sends again.
    Free,
}

/// How much of a body a handler can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLimit {
    /// Nothing: what is sent is not read.
    NoBody,
    /// So many bytes.
    Bytes(usize),
    /// `limits.body_bytes`.
    Configured,
}

/// What is spoken at a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// REST: refusals are `{ error: … }`, and tokens are those of `/mcp`.
    Rest,
    /// MCP: refusals are JSON-RPC, and the path is a resource of its own.
    Mcp,
}

impl Route {
    /// A route that is read, with HEAD too.
    pub fn get<H: Handler<T, App>, T: 'static>(path: impl Into<Cow<'static, str>>, handler: H) -> Self {
        Self::new(Some(Method::GET), path, get(handler))
    }

    /// A route that does something.
    pub fn post<H: Handler<T, App>, T: 'static>(path: impl Into<Cow<'static, str>>, handler: H) -> Self {
        Self::new(Some(Method::POST), path, post(handler))
    }

    /// A route that ends something.
    pub fn delete<H: Handler<T, App>, T: 'static>(path: impl Into<Cow<'static, str>>, handler: H) -> Self {
        Self::new(Some(Method::DELETE), path, delete(handler))
    }

    /// A route that takes every method.
    pub fn any<H: Handler<T, App>, T: 'static>(path: impl Into<Cow<'static, str>>, handler: H) -> Self {
        Self::new(None, path, any(handler))
    }

    fn new(method: Option<Method>, path: impl Into<Cow<'static, str>>, handler: MethodRouter<App>) -> Self {
        Self { method, path: path.into(), policy: Policy::CLOSED, doc: None, handler }
    }

    /// The same for another audience.
    #[must_use]
    pub fn audience(mut self, audience: Audience) -> Self {
        self.policy.audience = audience;
        self
    }

    /// The same for pages of other origins.
    #[must_use]
    pub fn cors(mut self, cors: Cors) -> Self {
        self.policy.cors = cors;
        self
    }

    /// The same with another rate limit.
    #[must_use]
    pub fn rate(mut self, rate: RateClass) -> Self {
        self.policy.rate = rate;
        self
    }

    /// The same with a body.
    #[must_use]
    pub fn body(mut self, body: BodyLimit) -> Self {
        self.policy.body = body;
        self
    }

    /// The same, speaking another protocol.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.policy.protocol = protocol;
        self
    }

    /// The same as a probe.
    #[must_use]
    pub fn probe(mut self) -> Self {
        self.policy.is_probe = true;
        self
    }

    /// The same with all that another route has but its handler.
    #[must_use]
    pub(super) fn policy_of(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The same, described in OpenAPI.
    #[must_use]
    pub(super) fn described_by(mut self, doc: &'static Endpoint) -> Self {
        self.doc = Some(doc);
        self
    }

    /// The method; every one where there is none.
    pub fn method(&self) -> Option<&Method> {
        self.method.as_ref()
    }

    /// The path, with parameters in braces.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What holds for its requests.
    pub fn policy(&self) -> Policy {
        self.policy
    }
}

impl Policy {
    /// That of a route of which nothing is said, and of every path that is none.
    pub const CLOSED: Self = Self {
        audience: Audience::Caller,
        cors: Cors::AllowedOrigins,
        rate: RateClass::Shared,
        body: BodyLimit::NoBody,
        protocol: Protocol::Rest,
        is_probe: false,
    };

    /// The path of the resource that a token is for.
    pub(super) fn resource<'p>(&self, path: &'p str) -> &'p str {
        match self.protocol {
            Protocol::Rest => mcp::PATH,
            Protocol::Mcp => path,
        }
    }
}

impl BodyLimit {
    /// What a handler can read of a body.
    pub(super) fn bound(self, body: Body, limits: &Limits) -> Body {
        match self {
            Self::NoBody => Body::empty(),
            Self::Bytes(most) => Body::new(Limited::new(body, most)),
            Self::Configured => Body::new(Limited::new(body, limits.body_bytes)),
        }
    }
}

impl Protocol {
    /// A refusal as the protocol writes it.
    pub(super) fn refusal(self, error: ApiError) -> Response {
        match self {
            Self::Rest => error.into_response(),
            Self::Mcp => mcp::refusal(&error),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http_body_util::BodyExt;

    use super::*;
    use crate::{config::Config, http::body::read_body_of};

    /// What a handler reads of `abcd` that would itself take more.
    async fn read(limit: BodyLimit) -> Result<String, http::StatusCode> {
        let lines = "[limits]\nbody_bytes = 1024\n";
        let limits = Config::from_text("lyceum.toml".as_ref(), lines).unwrap().limits;
        let body = limit.bound(Body::from("abcd"), &limits);
        let read = read_body_of(&HeaderMap::new(), body, 100, limits.read).await;
        read.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).map_err(|error| error.status())
    }

    #[tokio::test]
    async fn a_handler_reads_no_more_of_a_body_than_its_row_says() {
        assert_eq!(read(BodyLimit::NoBody).await.as_deref(), Ok(""));
        assert_eq!(read(BodyLimit::Bytes(4)).await.as_deref(), Ok("abcd"));
        assert_eq!(read(BodyLimit::Bytes(3)).await, Err(http::StatusCode::PAYLOAD_TOO_LARGE));
        assert_eq!(read(BodyLimit::Configured).await.as_deref(), Ok("abcd"));
    }

    #[tokio::test]
    async fn a_refusal_is_written_as_the_protocol_does() {
        for (protocol, code) in [(Protocol::Rest, "\"FORBIDDEN\""), (Protocol::Mcp, "\"jsonrpc\"")] {
            let error = ApiError::new(lyceum_model::ErrorCode::Forbidden, "no");
            let response = protocol.refusal(error);
            assert_eq!(response.status(), 403);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert!(String::from_utf8_lossy(&body).contains(code), "{protocol:?}: {body:?}");
        }
        let mcp = Policy { protocol: Protocol::Mcp, ..Policy::CLOSED };
        assert_eq!(mcp.resource("/skills/mcp"), "/skills/mcp");
        assert_eq!(Policy::CLOSED.resource("/skills/mcp"), "/mcp");
    }
}
