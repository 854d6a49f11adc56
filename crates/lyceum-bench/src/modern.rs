//! Requests of MCP 2026-07-28, which are stateless.

use serde_json::{Value, json};

use lyceum_harness::exchange::Request;

/// Protocol version.
pub(super) const VERSION: &str = "2026-07-28";

/// A `tools/call` request.
pub(super) fn call(id: u32, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", &json!({ "name": tool, "arguments": arguments }))
}

/// A request with the client's `_meta`.
pub(super) fn request(id: u32, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    if let Some(params) = params.as_object_mut() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "lyceum-bench", "version": "0" },
        });
        params.insert("_meta".to_owned(), meta);
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The HTTP request for a message, with the headers that mirror its body.
pub(super) fn post(accept: &str, message: &Value) -> Request {
    let text = |pointer| message.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let mut headers = vec![
        ("Content-Type", "application/json".to_owned()),
        ("Accept", accept.to_owned()),
        ("MCP-Protocol-Version", VERSION.to_owned()),
    ];
    headers.extend(text("/method").map(|method| ("Mcp-Method", method)));
    headers.extend(text("/params/name").map(|name| ("Mcp-Name", name)));
    Request { method: "POST", path: "/mcp".into(), headers, body: message.to_string() }
}
