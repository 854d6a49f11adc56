//! Builds requests.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

/// A request with its body.
pub(crate) type Request = http::Request<Full<Bytes>>;

/// The modern protocol version.
pub(crate) const MODERN: &str = "2026-07-28";

pub(crate) fn get(path: &str) -> Request {
    let mut request = Request::default();
    *request.uri_mut() = path.parse().unwrap();
    request
}

/// A POST with the content type JSON.
pub(crate) fn post(path: &str, body: impl Into<Bytes>) -> Request {
    let mut request = get(path);
    *request.method_mut() = Method::POST;
    *request.body_mut() = Full::new(body.into());
    let headers = request.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    request
}

/// A modern request: with the required `_meta`, and the headers that mirror it.
pub(crate) fn modern(method: &str, params: &Value) -> Request {
    let mut params = params.clone();
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let Some(sent) = params.get("_meta").and_then(Value::as_object) {
        meta.as_object_mut().unwrap().extend(sent.clone());
    }
    params["_meta"] = meta;
    let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let mut request = post("/mcp", message(method, &params).to_string());
    let mut repeat = |header: &'static str, value: &str| {
        request.headers_mut().insert(HeaderName::from_static(header), value.parse().unwrap());
    };
    repeat("mcp-protocol-version", MODERN);
    repeat("mcp-method", method);
    if let (Some(name), "tools/call" | "prompts/get" | "resources/read") = (name, method) {
        repeat("mcp-name", &name);
    }
    request
}

/// A modern `tools/call`.
pub(crate) fn call(name: &str, arguments: &Value) -> Request {
    modern("tools/call", &json!({ "name": name, "arguments": arguments }))
}

/// A JSON-RPC request.
pub(crate) fn message(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// The body of a request.
pub(crate) async fn body_of(request: &Request) -> Bytes {
    match request.body().clone().collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    }
}
