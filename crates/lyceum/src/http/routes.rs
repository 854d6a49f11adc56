//! Every route of the program: the rows of each part, one after the other.

use super::{
    api, auth, health, root,
    route::{Audience, BodyLimit, RateClass, Route},
    tools, webhook,
};
use crate::{app::App, mcp};

/// The routes of this deployment.
pub fn routes(app: &App) -> Vec<Route> {
    let mut routes = vec![
        Route::get("/", root::page).audience(Audience::Optional).rate(RateClass::Own),
        Route::get("/livez", health::live).audience(Audience::Public).rate(RateClass::Free).probe(),
        Route::get("/readyz", health::ready).audience(Audience::Optional).rate(RateClass::Free).probe(),
        Route::get("/health", health::health).audience(Audience::Optional).rate(RateClass::Own).probe(),
        Route::get("/metrics", health::metrics).audience(Audience::Operator).rate(RateClass::Own).probe(),
        Route::post("/webhooks/github", webhook::github)
            .audience(Audience::Public)
            .rate(RateClass::Free)
            .body(BodyLimit::Bytes(webhook::MAX_BODY_BYTES)),
    ];
    routes.extend(mcp::routes());
    routes.extend(tools::routes());
    for service in app.services.iter() {
        routes.extend(service.clone().routes());
    }
    if routes.iter().all(|route| route.path() != api::ROOT) {
        routes.extend(api::absent());
    }
    if app.auth.is_none() {
        routes.extend(auth::absent());
    }
    routes
}
