//! The sign-in page. The template escapes everything that comes from outside.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use lyceum_auth::{Auth, StartedSignIn};
use lyceum_model::Right;

use super::answer::unkept;
use crate::{
    app::App,
    config::{AuthService, Waap},
};

const SCRIPT: &str = include_str!("../../../templates/page.js");
const WAAP_SCRIPT: &str = include_str!("../../../templates/waap.js");
const STYLE: &str = include_str!("../../../templates/page.css");

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    /// The host of this server.
    server: &'a str,
    client: &'a str,
    is_vouched: bool,
    host: &'a str,
    is_local: bool,
    resource: &'a str,
    rights: Vec<&'a Right>,
    message: &'a str,
    state: &'a str,
    chains: String,
    has_wallets: bool,
    has_github: bool,
    has_keys: bool,
    waap: Option<&'a Waap>,
    /// Its start options, as JSON.
    waap_settings: String,
}

#[derive(Template)]
#[template(path = "sign_in_fault.html")]
struct FaultPage<'a> {
    /// The host of this server.
    server: &'a str,
    message: &'a str,
    /// A URL and its host.
    way_back: Option<&'a (String, &'a str)>,
}

/// The consent page.
pub(super) fn sign_in(
    app: &App,
    auth: &Auth,
    started: &StartedSignIn,
    message: &str,
    status: StatusCode,
) -> Response {
    let request = &started.sign_in.request;
    let waap = waap(app).filter(|_| !auth.chains().is_empty());
    let chains: Vec<String> = auth.chains().iter().map(u64::to_string).collect();
    let page = SignInPage {
        server: host(auth),
        client: request.client_name.as_deref().unwrap_or("A program without a name"),
        is_vouched: auth.vouches_for(&request.client),
        host: request.shown_host(),
        is_local: request.is_local(),
        resource: &request.resource,
        rights: auth
            .rights()
            .iter()
            .filter(|right| request.scopes.iter().any(|scope| *scope == right.scope))
            .collect(),
        message,
        state: &started.state,
        chains: chains.join(" "),
        has_wallets: !chains.is_empty(),
        has_github: auth.github().is_some(),
        has_keys: auth.has_keys(),
        waap,
        waap_settings: waap.and_then(|waap| serde_json::to_string(&waap.settings).ok()).unwrap_or_default(),
    };
    let leads_to: Vec<String> = auth.github().into_iter().chain([request.origin()]).collect();
    guarded(written(page.render(), status), waap, &leads_to.join(" "))
}

fn waap(app: &App) -> Option<&Waap> {
    match &app.config.auth {
        AuthService::Open => None,
        AuthService::Gated(oauth) => oauth.waap.as_ref(),
    }
}

/// The error page.
pub(super) fn fault(auth: &Auth, message: &str, status: StatusCode) -> Response {
    let page = FaultPage { server: host(auth), message, way_back: None };
    guarded(written(page.render(), status), None, "")
}

/// The error page with a link back to the client: a URL and its host.
pub(super) fn fault_with_way_back(auth: &Auth, message: &str, way_back: &(String, &str)) -> Response {
    let page = FaultPage { server: host(auth), message, way_back: Some(way_back) };
    guarded(written(page.render(), StatusCode::BAD_REQUEST), None, "")
}

/// The host of this server, with its port if it is not the usual one: whoever signs in must see where.
fn host(auth: &Auth) -> &str {
    let issuer = auth.issuer();
    issuer.split_once("://").map_or(issuer, |(_, host)| host)
}

pub(super) async fn script() -> Response {
    with_type(SCRIPT, "text/javascript; charset=utf-8")
}

pub(super) async fn waap_script() -> Response {
    with_type(WAAP_SCRIPT, "text/javascript; charset=utf-8")
}

pub(super) async fn style() -> Response {
    with_type(STYLE, "text/css; charset=utf-8")
}

fn with_type(text: &'static str, kind: &'static str) -> Response {
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    guarded(response, None, "")
}

fn written(page: askama::Result<String>, status: StatusCode) -> Response {
    unkept(match page {
        Ok(page) => (status, Html(page)).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    })
}

/// Security headers: no framing, and a content security policy that allows only our own scripts and styles. `form-action`
/// allows this server and the redirect to the client. WaaP adds one external script and frame.
pub(super) fn guarded(mut response: Response, waap: Option<&Waap>, leads_to: &str) -> Response {
    let (script, frame) =
        waap.map_or(("", "'none'"), |waap| (waap.script_origin.as_str(), waap.frame_origin.as_str()));
    let policy = format!(
        "default-src 'none'; script-src 'self' {script}; style-src 'self'; connect-src 'self'; img-src data:; \
         frame-src {frame}; form-action 'self' {leads_to}; frame-ancestors 'none'; base-uri 'none'"
    );
    let opener = if waap.is_some() { "same-origin-allow-popups" } else { "same-origin" };
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let fixed = [
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer`, browsers would send our own forms with `Origin: null`.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), opener),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
