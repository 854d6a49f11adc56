//! A route: method, path, handler, and the policy that the middleware applies before the handler.
//!
//! The default policy is restrictive: permitted callers, allowed origins, shared rate limit, no body.

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

/// One row of the route table. Nothing else makes a path reachable.
pub struct Route {
    /// The method; `None` for every method.
    pub(super) method: Option<Method>,
    pub(super) path: Cow<'static, str>,
    pub(super) policy: Policy,
    pub(super) doc: Option<&'static Endpoint>,
    pub(super) handler: MethodRouter<App>,
}

/// What the middleware checks before the handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Who may call.
    pub audience: Audience,
    /// Which origins may call (CORS).
    pub cors: Cors,
    /// Rate limit of anonymous callers.
    pub rate: RateClass,
    /// Maximum size of the body.
    pub body: BodyLimit,
    /// Format of errors, and the OAuth resource of tokens.
    pub protocol: Protocol,
    /// Whether it is served during shutdown, on reserved connections and on the operator listener.
    pub is_probe: bool,
}

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Everyone; credentials are ignored. For sign-in, liveness, and senders that are authenticated by a signature.
    Public,
    /// Everyone; a token is checked if it is sent, and its holder may see more.
    Optional,
    /// Permitted callers: anonymous ones only if `auth.anonymous` allows it.
    Caller,
    /// Signed-in callers only, even if `auth.anonymous` allows anonymous ones.
    SignedIn,
    /// Operators only, unless everyone may see health details and metrics.
    Operator,
}

/// Which origins may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cors {
    /// Those of `server.allowed_origins`.
    AllowedOrigins,
    /// Every origin: clients in a browser need it before they have a token.
    AnyOrigin,
    /// If the server is public, every origin may read, and caches may store; else only allowed origins.
    PublicRead,
    /// Only those of `server.allowed_origins` may read, and shared caches may not store: the content is for members.
    MemberRead,
}

/// The rate limit of anonymous callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateClass {
    /// The rate limit of sign-ins, per address: each request is expensive.
    SignIn,
    /// The limit per address, and the one for all addresses together.
    Shared,
    /// Only the limit per address, so that a flood elsewhere does not prevent sign-in.
    Own,
    /// None: probes, and webhooks, which are not retried.
    Free,
}

/// How much of a body a handler may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLimit {
    /// Nothing: the body is ignored.
    NoBody,
    /// A fixed number of bytes.
    Bytes(usize),
    /// `limits.body_bytes`.
    Configured,
}

/// The protocol of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// REST: errors are `{ error: … }`, and tokens are for the resource `/mcp`.
    Rest,
    /// MCP: errors are JSON-RPC, and the path is an OAuth resource of its own.
    Mcp,
}

impl Route {
    /// A GET route, which also serves HEAD.
    pub fn get<H: Handler<T, App>, T: 'static>(path: impl Into<Cow<'static, str>>, handler: H) -> Self {
        Self::new(Some(Method::GET), path, get(handler))
    }

    /// A POST route.
    pub fn post<H: Handler<T, App>, T: 'static>(path: impl Into<Cow<'static, str>>, handler: H) -> Self {
        Self::new(Some(Method::POST), path, post(handler))
    }

    /// A DELETE route.
    pub fn delete<H: Handler<T, App>, T: 'static>(path: impl Into<Cow<'static, str>>, handler: H) -> Self {
        Self::new(Some(Method::DELETE), path, delete(handler))
    }

    /// A route for every method.
    pub fn any<H: Handler<T, App>, T: 'static>(path: impl Into<Cow<'static, str>>, handler: H) -> Self {
        Self::new(None, path, any(handler))
    }

    fn new(method: Option<Method>, path: impl Into<Cow<'static, str>>, handler: MethodRouter<App>) -> Self {
        Self { method, path: path.into(), policy: Policy::CLOSED, doc: None, handler }
    }

    /// Sets the audience.
    #[must_use]
    pub fn audience(mut self, audience: Audience) -> Self {
        self.policy.audience = audience;
        self
    }

    /// Sets the CORS policy.
    #[must_use]
    pub fn cors(mut self, cors: Cors) -> Self {
        self.policy.cors = cors;
        self
    }

    /// Sets the rate limit.
    #[must_use]
    pub fn rate(mut self, rate: RateClass) -> Self {
        self.policy.rate = rate;
        self
    }

    /// Sets the body limit.
    #[must_use]
    pub fn body(mut self, body: BodyLimit) -> Self {
        self.policy.body = body;
        self
    }

    /// Sets the protocol.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.policy.protocol = protocol;
        self
    }

    /// Marks the route as a health probe.
    #[must_use]
    pub fn probe(mut self) -> Self {
        self.policy.is_probe = true;
        self
    }

    /// Sets the whole policy.
    #[must_use]
    pub(super) fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Adds the OpenAPI description.
    #[must_use]
    pub(super) fn described_by(mut self, doc: &'static Endpoint) -> Self {
        self.doc = Some(doc);
        self
    }

    /// The method; `None` for every method.
    pub fn method(&self) -> Option<&Method> {
        self.method.as_ref()
    }

    /// The path, with parameters in braces.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        self.policy
    }
}

impl Policy {
    /// The default policy, also of unknown paths.
    pub const CLOSED: Self = Self {
        audience: Audience::Caller,
        cors: Cors::AllowedOrigins,
        rate: RateClass::Shared,
        body: BodyLimit::NoBody,
        protocol: Protocol::Rest,
        is_probe: false,
    };

    /// The path of the OAuth resource that a token must be for.
    pub(super) fn resource<'p>(&self, path: &'p str) -> &'p str {
        match self.protocol {
            Protocol::Rest => mcp::PATH,
            Protocol::Mcp => path,
        }
    }
}

impl BodyLimit {
    /// Limits the body that a handler reads.
    pub(super) fn bound(self, body: Body, limits: &Limits) -> Body {
        match self {
            Self::NoBody => Body::empty(),
            Self::Bytes(most) => Body::new(Limited::new(body, most)),
            Self::Configured => Body::new(Limited::new(body, limits.body_bytes)),
        }
    }
}

impl Protocol {
    /// Formats an error for the protocol.
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

    /// What a handler with a higher limit reads of the body `abcd`.
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
