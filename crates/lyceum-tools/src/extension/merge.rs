//! Several services that offer the same extension, answered as one: at `/mcp` a method speaks for all of them.

use std::future::Future;

use lyceum_model::ErrorCode;
use serde_json::Value;

use super::MethodEntry;
use crate::{Error, InvalidCursor, mcp::JsonObject};

/// How a method's results are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Merge {
    /// The first service that does not answer `NOT_FOUND`.
    #[default]
    FirstFound,
    /// The pages of each service in turn. `cursor` and `nextCursor` name the service and hold its own cursor.
    Pages,
}

/// Runs a method of several services, of which there is at least one.
pub(crate) async fn run<'a, W>(
    methods: &[&'a MethodEntry],
    params: JsonObject,
    run_one: impl Fn(&'a MethodEntry, JsonObject) -> W,
) -> Result<JsonObject, Error>
where
    W: Future<Output = Result<JsonObject, Error>>,
{
    match methods {
        [only] => run_one(only, params).await,
        [first, ..] if first.merge == Merge::Pages => pages(methods, params, run_one).await,
        _ => first_found(methods, params, run_one).await,
    }
}

async fn first_found<'a, W>(
    methods: &[&'a MethodEntry],
    params: JsonObject,
    run_one: impl Fn(&'a MethodEntry, JsonObject) -> W,
) -> Result<JsonObject, Error>
where
    W: Future<Output = Result<JsonObject, Error>>,
{
    let mut failure = None;
    for method in methods {
        match run_one(method, params.clone()).await {
            // A service that is unavailable may be the one that has it: its error says more than "not found".
            Err(error) if error.code() == ErrorCode::NotFound => failure = failure.or(Some(error)),
            Err(error) if error.code() == ErrorCode::Unavailable => failure = Some(error),
            result => return result,
        }
    }
    Err(failure.unwrap_or_else(|| Error::internal("a method without a service")))
}

async fn pages<'a, W>(
    methods: &[&'a MethodEntry],
    mut params: JsonObject,
    run_one: impl Fn(&'a MethodEntry, JsonObject) -> W,
) -> Result<JsonObject, Error>
where
    W: Future<Output = Result<JsonObject, Error>>,
{
    let mut rest = match params.remove("cursor") {
        Some(Value::String(cursor)) => {
            let (service, own) = cursor.split_once('.').ok_or(InvalidCursor)?;
            if !own.is_empty() {
                params.insert("cursor".to_owned(), own.into());
            }
            let at = methods.iter().position(|method| method.access.domain.as_str() == service);
            methods.get(at.ok_or(InvalidCursor)?..).unwrap_or_default().iter()
        }
        Some(other) => {
            params.insert("cursor".to_owned(), other);
            methods.iter()
        }
        None => methods.iter(),
    };
    loop {
        let method = rest.next().ok_or(InvalidCursor)?;
        let next = rest.as_slice().first();
        let mut page = match run_one(method, params.clone()).await {
            // One service that is unavailable does not hide the others.
            Err(error) if error.code() == ErrorCode::Unavailable && next.is_some() => {
                params.remove("cursor");
                continue;
            }
            page => page?,
        };
        let own = page
            .get("nextCursor")
            .and_then(Value::as_str)
            .map(|own| format!("{}.{own}", method.access.domain));
        if let Some(cursor) = own.or_else(|| next.map(|next| format!("{}.", next.access.domain))) {
            page.insert("nextCursor".to_owned(), cursor.into());
        }
        return Ok(page);
    }
}
