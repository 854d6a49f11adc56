//! The route table: the router and the policy of each path, both built from the same rows.
//!
//! The middleware looks up every request before it checks it, and sends nothing to the router that is not in the
//! table.

use std::borrow::Cow;

use axum::{
    Router,
    body::Body,
    response::{IntoResponse, Response},
};
use http::{Method, Request};
use lyceum_model::ErrorCode;
use tower_service::Service;

use super::{
    ApiError,
    route::{Policy, Route},
};
use crate::{app::App, mcp};

/// The metrics label of unknown paths.
const OTHER: Cow<'static, str> = Cow::Borrowed("other");

/// Every route of this deployment.
pub struct RouteTable {
    matcher: matchit::Router<usize>,
    paths: Vec<PathRows>,
    /// The index of `/mcp` in `paths`.
    mcp: Option<usize>,
    router: Router,
}

/// Why a route table could not be built. The text is for the operator.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// Two routes have the same method and path.
    #[error("two routes answer {method} {path}; give one of them another path")]
    Duplicate {
        /// The method, or `any method`.
        method: String,
        /// The path.
        path: String,
    },
    /// A path is invalid, or conflicts with another.
    #[error("cannot serve the route {path}: {cause}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        cause: String,
    },
}

/// The routes of one path.
struct PathRows {
    path: Cow<'static, str>,
    rows: Vec<(Option<Method>, Policy)>,
}

/// The result of a lookup.
pub(super) struct RouteMatch {
    /// The path of the route, for metrics: never text from the client.
    pub(super) label: Cow<'static, str>,
    pub(super) policy: Policy,
    pub(super) target: Target,
}

/// Where a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// `/mcp`, called directly: most requests go there, and the router would take a tenth of their time.
    Mcp,
    /// The router.
    Router,
    /// Nowhere: no route has this path.
    Nothing,
}

impl RouteTable {
    /// Builds the table.
    pub fn new(routes: Vec<Route>, app: &App) -> Result<Self, RouteError> {
        let (mut matcher, mut paths) = (matchit::Router::new(), Vec::<PathRows>::new());
        for route in &routes {
            check_path(&route.path)?;
            if let Some(known) = paths.iter_mut().find(|known| known.path == route.path) {
                known.add(route)?;
                continue;
            }
            let inserted = matcher.insert(route.path.as_ref(), paths.len());
            inserted.map_err(|error| RouteError::Path {
                path: route.path.to_string(),
                cause: error.to_string(),
            })?;
            let rows = vec![(route.method.clone(), route.policy)];
            paths.push(PathRows { path: route.path.clone(), rows });
        }
        let mcp = paths.iter().position(|one| one.path == mcp::PATH);
        Ok(Self { matcher, paths, mcp, router: build_router(routes, app.clone()) })
    }

    /// Looks up the policy and target of a request.
    pub(super) fn find(&self, method: &Method, path: &str) -> RouteMatch {
        let (target, index) = if path == mcp::PATH {
            (Target::Mcp, self.mcp)
        } else {
            (Target::Router, self.matcher.at(path).ok().map(|found| *found.value))
        };
        match index.and_then(|index| self.paths.get(index)) {
            Some(rows) => RouteMatch { label: rows.path.clone(), policy: rows.policy(method), target },
            None => RouteMatch { label: OTHER, policy: Policy::CLOSED, target: Target::Nothing },
        }
    }

    /// Calls the handler of a route; an unknown path gets 404.
    pub(super) async fn dispatch(&self, target: Target, request: Request<Body>) -> Response {
        match target {
            Target::Nothing => not_found().await.into_response(),
            Target::Mcp | Target::Router => {
                self.router.clone().call(request).await.unwrap_or_else(|never| match never {})
            }
        }
    }

    /// The paths of the health probes.
    pub(super) fn probes(&self) -> impl Iterator<Item = &str> {
        let probes = self.paths.iter().filter(|one| one.rows.iter().any(|(_, policy)| policy.is_probe));
        probes.map(|one| one.path.as_ref())
    }
}

impl PathRows {
    /// Adds another method to the path.
    fn add(&mut self, route: &Route) -> Result<(), RouteError> {
        let is_taken = self
            .rows
            .iter()
            .any(|(method, _)| method.is_none() || route.method.is_none() || *method == route.method);
        if is_taken {
            let method = route.method.as_ref().map_or_else(|| "any method".to_owned(), Method::to_string);
            return Err(RouteError::Duplicate { method, path: self.path.to_string() });
        }
        self.rows.push((route.method.clone(), route.policy));
        Ok(())
    }

    /// The policy for a method. One without a route is rejected by the router, with the policy of the first.
    fn policy(&self, method: &Method) -> Policy {
        let wanted = if *method == Method::HEAD { &Method::GET } else { method };
        let taken =
            self.rows.iter().find(|(method, _)| method.as_ref().is_none_or(|method| method == wanted));
        taken.or(self.rows.first()).map_or(Policy::CLOSED, |(_, policy)| *policy)
    }
}

/// Rejects paths at which the router would panic.
fn check_path(path: &str) -> Result<(), RouteError> {
    let cause = if !path.starts_with('/') {
        "it must start with /"
    } else if path.split('/').any(|segment| segment.starts_with([':', '*'])) {
        "parameters are written {name}, and the rest of a path {*name}"
    } else {
        return Ok(());
    };
    Err(RouteError::Path { path: path.to_owned(), cause: cause.to_owned() })
}

#[expect(clippy::disallowed_methods, reason = "the only place that mounts routes")]
fn build_router(routes: Vec<Route>, app: App) -> Router {
    let mount = |router: Router<App>, route: Route| router.route(&route.path, route.handler);
    let router = routes.into_iter().fold(Router::new(), mount);
    let wrong_method =
        async || ApiError::new(ErrorCode::MethodNotAllowed, "this path does not support this method");
    router.fallback(not_found).method_not_allowed_fallback(wrong_method).with_state(app)
}

async fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "no such path")
}

#[cfg(test)]
pub(super) mod tests;
