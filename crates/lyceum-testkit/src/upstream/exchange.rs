//! One connection of the scripted MCP server: requests in, scripted responses out.

use std::{collections::BTreeMap, io};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{SECRET_TEXT, Script, UpstreamEra, UpstreamFault};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct UpstreamRequest {
    /// The head, as text.
    pub head: String,
    /// The headers, by name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Value,
}

/// Serves requests until the client or the script closes the connection.
pub(super) async fn serve(mut stream: TcpStream, script: &Script) {
    let mut buffer = Vec::new();
    while let Ok(Some(request)) = read(&mut stream, &mut buffer).await {
        script.state().requests.push(request.clone());
        if respond(&mut stream, script, &request).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<UpstreamRequest>> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let headers: BTreeMap<String, String> = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while buffer.len() < end + 4 + length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = serde_json::from_slice(&buffer[end + 4..end + 4 + length]).unwrap_or_default();
    buffer.drain(..end + 4 + length);
    Ok(Some(UpstreamRequest { head, headers, body }))
}

async fn respond(stream: &mut TcpStream, script: &Script, request: &UpstreamRequest) -> io::Result<()> {
    let method = request.body["method"].as_str().unwrap_or_default();
    if let Some(fault) = script.fault(method) {
        return fail(stream, fault, &request.body["id"]).await;
    }
    if method.is_empty() {
        // A plain HTTP service.
        return send(stream, 200, "", "application/json", "{\"accepted\":true}").await;
    }
    if request.body.get("id").is_none() {
        return send(stream, 202, "", "text/plain", "").await;
    }
    let id = &request.body["id"];
    if script.era == UpstreamEra::Legacy && method != "initialize" {
        let session = request.headers.get("mcp-session-id");
        let status = match session {
            None => 400,
            Some(session) if !script.state().sessions.contains(session) => 404,
            Some(_) => 200,
        };
        if status != 200 {
            let body =
                json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": SECRET_TEXT } });
            return send(stream, status, "", "application/json", &body.to_string()).await;
        }
    }
    let message = match script.result(method, &request.body["params"]) {
        Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
        Err(code) => rpc_error(id, code),
    };
    let headers = if method == "initialize" {
        format!("mcp-session-id: {}\r\n", script.open_session())
    } else {
        String::new()
    };
    let (content_type, as_events) = {
        let state = script.state();
        (state.content_type, state.as_events)
    };
    let mut body = String::new();
    if as_events {
        let token = &request.body["params"]["_meta"]["progressToken"];
        if !token.is_null() {
            let params = json!({ "progressToken": token, "progress": 1, "total": 2, "message": "half" });
            let notice = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            body.push_str(&format!("event: message\ndata: {notice}\n\n"));
        }
        body.push_str(&format!("event: message\ndata: {message}\n\n"));
    } else {
        body = message;
    }
    send(stream, 200, &headers, content_type, &body).await
}

fn rpc_error(id: &Value, code: i64) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": SECRET_TEXT } }).to_string()
}

async fn send(
    stream: &mut TcpStream,
    status: u16,
    headers: &str,
    content_type: &str,
    body: &str,
) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await
}

/// An error ends the connection.
async fn fail(stream: &mut TcpStream, fault: UpstreamFault, id: &Value) -> io::Result<()> {
    let ended = || io::Error::other("the script ends the connection");
    match fault {
        UpstreamFault::Silent => std::future::pending().await,
        UpstreamFault::Status(status) => {
            let headers = if status == 429 { "retry-after: 7\r\n" } else { "" };
            send(stream, status, headers, "text/plain", SECRET_TEXT).await
        }
        UpstreamFault::Truncated => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n";
            stream.write_all(format!("{head}{{\"jsonrpc\":\"2.0\"").as_bytes()).await?;
            Err(ended())
        }
        UpstreamFault::Endless => {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes()).await?;
            let comment = format!("10000\r\n:{}\n\r\n", "x".repeat(0x10000 - 2));
            loop {
                stream.write_all(comment.as_bytes()).await?;
            }
        }
        UpstreamFault::WrongId => {
            let body = json!({ "jsonrpc": "2.0", "id": 987_654, "result": { "content": [] } });
            send(stream, 200, "", "application/json", &body.to_string()).await
        }
        UpstreamFault::Huge(bytes) => {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {bytes}\r\n\r\n"
            );
            let start = format!("{head}{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"");
            stream.write_all(start.as_bytes()).await?;
            let block = vec![b'x'; 0x10000];
            for _ in 0..bytes / block.len() {
                stream.write_all(&block).await?;
            }
            Err(ended())
        }
        UpstreamFault::Disconnect => Err(ended()),
        UpstreamFault::Rpc(code) => send(stream, 200, "", "application/json", &rpc_error(id, code)).await,
    }
}
