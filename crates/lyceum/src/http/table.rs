//! The route table: the router and the policy of each path, both made of the same rows and of nothing else.
//!
//! The edge looks a request up before it lets it in, and sends nothing to the router that the table does not know.

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

/// The label of requests for paths without a row, in metrics.
const OTHER: Cow<'static, str> = Cow::Borrowed("other");

/// Every route of this deployment.
pub struct RouteTable {
    matcher: matchit::Router<usize>,
    paths: Vec<PathRows>,
    /// Where `/mcp` is among the paths.
    mcp: Option<usize>,
    router: Router,
}

/// Why routes can't stand in one table. The text is for whoever starts the server.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// Two rows answer the same request.
    #[error("two routes answer {method} {path}; give one of them another path")]
    Duplicate {
        /// The method, or `any method`.
        method: String,
        /// The path.
        path: String,
    },
    /// A path is none, or stands in the way of another.
    #[error("the route {path} can't be served: {cause}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        cause: String,
    },
}

/// The rows of one path.
struct PathRows {
    path: Cow<'static, str>,
    rows: Vec<(Option<Method>, Policy)>,
}

/// What the table says of a request.
pub(super) struct RouteMatch {
    /// The path of the row, for metrics: never a text of the client's own.
    pub(super) label: Cow<'static, str>,
    pub(super) policy: Policy,
    pub(super) target: Target,
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// To `/mcp`. Most requests do, and the router would cost a tenth of such a request.
    Mcp,
    /// To the router.
    Router,
    /// Nowhere: no row has this path.
    Nothing,
}

impl RouteTable {
    /// The table of these routes, or why they don't go together.
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
        Ok(Self { matcher, paths, mcp, router: mounted(routes, app.clone()) })
    }

    /// Looks up what holds for a request.
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

    /// Has the handler of a row answer; a path without a row has none.
    pub(super) async fn dispatch(&self, target: Target, request: Request<Body>) -> Response {
        match target {
            Target::Nothing => nothing().await.into_response(),
            Target::Mcp | Target::Router => {
                self.router.clone().call(request).await.unwrap_or_else(|never| match never {})
            }
        }
    }

    /// The paths of the probes.
    pub(super) fn probes(&self) -> impl Iterator<Item = &str> {
        let probes = self.paths.iter().filter(|one| one.rows.iter().any(|(_, policy)| policy.is_probe));
        probes.map(|one| one.path.as_ref())
    }
}

impl PathRows {
    /// Adds another row of the same path, for a method that has none yet.
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

    /// What holds for a method. One that no row takes is refused by the router, as the first row says.
    fn policy(&self, method: &Method) -> Policy {
        let wanted = if *method == Method::HEAD { &Method::GET } else { method };
        let taken =
            self.rows.iter().find(|(method, _)| method.as_ref().is_none_or(|method| method == wanted));
        taken.or(self.rows.first()).map_or(Policy::CLOSED, |(_, policy)| *policy)
    }
}

/// Refuses what the router would panic at.
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

#[expect(clippy::disallowed_methods, reason = "this is the one place that mounts routes")]
fn mounted(routes: Vec<Route>, app: App) -> Router {
    let mount = |router: Router<App>, route: Route| router.route(&route.path, route.handler);
    let router = routes.into_iter().fold(Router::new(), mount);
    let wrong_method =
        async || ApiError::new(ErrorCode::MethodNotAllowed, "this path does not take this method");
    router.fallback(nothing).method_not_allowed_fallback(wrong_method).with_state(app)
}

async fn nothing() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "there is nothing at this path")
}

#[cfg(test)]
pub(super) mod tests;
