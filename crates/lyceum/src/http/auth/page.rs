//! The page that a person sees. Everything in it that came from elsewhere is escaped by the template.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use lyceum_auth::{Auth, Begun};
use lyceum_model::{RIGHTS, Right};

use super::answer::unkept;

const SCRIPT: &str = include_str!("../../../templates/page.js");
const STYLE: &str = include_str!("../../../templates/page.css");

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    client: &'a str,
    is_vouched: bool,
    host: &'a str,
    is_local: bool,
    resource: &'a str,
    rights: Vec<&'static Right>,
    message: &'a str,
    state: &'a str,
    chains: String,
    has_wallets: bool,
    has_github: bool,
    has_keys: bool,
}

#[derive(Template)]
#[template(path = "sign_in_fault.html")]
struct FaultPage<'a> {
    message: &'a str,
}

/// The page that asks.
pub(super) fn ask(auth: &Auth, begun: &Begun, message: &str, status: StatusCode) -> Response {
    let asked = &begun.sign_in.asked;
    let chains: Vec<String> = auth.chains().iter().map(u64::to_string).collect();
    let page = SignInPage {
        client: asked.client_name.as_deref().unwrap_or("A program without a name"),
        is_vouched: auth.vouches_for(&asked.client),
        host: asked.shown_host(),
        is_local: asked.is_local(),
        resource: &asked.resource,
        rights: RIGHTS
            .iter()
            .filter(|right| asked.scopes.iter().any(|scope| *scope == right.scope))
            .collect(),
        message,
        state: &begun.state,
        chains: chains.join(" "),
        has_wallets: !chains.is_empty(),
        has_github: auth.github().is_some(),
        has_keys: auth.has_keys(),
    };
    let leads_to: Vec<String> = auth.github().into_iter().chain([asked.origin()]).collect();
    written(page.render(), status, Some(&leads_to.join(" ")))
}

/// The page that says why a sign-in can't go on.
pub(super) fn fault(message: &str, status: StatusCode) -> Response {
    written(FaultPage { message }.render(), status, None)
}

pub(super) async fn script() -> Response {
    with_type(SCRIPT, "text/javascript; charset=utf-8")
}

pub(super) async fn style() -> Response {
    with_type(STYLE, "text/css; charset=utf-8")
}

fn with_type(text: &'static str, kind: &'static str) -> Response {
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    guarded(response, None)
}

fn written(page: askama::Result<String>, status: StatusCode, sent_to: Option<&str>) -> Response {
    let response = match page {
        Ok(page) => (status, Html(page)).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    guarded(unkept(response), sent_to)
}

/// The headers that keep other pages out of this one, and this one from running anything that is not ours. A form may
/// lead to us, and from here back to the client.
pub(super) fn guarded(mut response: Response, sent_to: Option<&str>) -> Response {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
         form-action 'self' {}; frame-ancestors 'none'; base-uri 'none'",
        sent_to.unwrap_or_default()
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let fixed = [
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
