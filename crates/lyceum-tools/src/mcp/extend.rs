//! Extension methods in MCP 2026-07-28: run like any other, with the fields that every result of this version has.

use rmcp::model::{CacheScope, CustomResult, ErrorData, JsonObject, ServerResult};
use serde_json::{Value, json};

use super::{Request, error_data, verbs};
use crate::{CallContext, MethodEntry, Notices, View};

/// Calls an extension method.
pub(super) async fn call_method(
    view: &View,
    mut request: Box<Request>,
    notices: Notices,
) -> Result<ServerResult, ErrorData> {
    let client = request.meta.client.take().unwrap_or_default();
    let context = CallContext { client, notices, ..CallContext::default() };
    let params = std::mem::take(&mut request.params);
    let result = verbs::call_method(view, &request.method, params, context).await;
    let mut result = result.map_err(|error| error_data(&error))?;

    add_defaults(&mut result, view, &request.method);
    Ok(CustomResult::new(Value::Object(result)).into())
}

/// Adds the fields that the method did not set.
fn add_defaults(result: &mut JsonObject, view: &View, method: &str) {
    let mut add = |key: &str, value: Value| {
        result.entry(key).or_insert(value);
    };
    add("resultType", json!("complete"));
    if let Some(ttl_ms) = view.method(method).and_then(MethodEntry::ttl_ms) {
        add("ttlMs", json!(ttl_ms));
        add(
            "cacheScope",
            json!(if view.has_public_content() { CacheScope::Public } else { CacheScope::Private }),
        );
    }
}
