//! Handles one request with `git http-backend` over CGI.

use std::{io, path::Path, process::Stdio};

use bytes::Bytes;
use hyper::{
    Response, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    http::request::Parts,
};
use tokio::{io::AsyncWriteExt, process::Command};

/// Runs the program for a repository below the root.
pub(super) async fn respond(root: &Path, head: &Parts, body: &[u8]) -> io::Result<Response<Bytes>> {
    let header = |name: &HeaderName| text_of(&head.headers, name);
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs(settings())
        .env("GIT_PROTOCOL", header(&HeaderName::from_static("git-protocol")))
        .env("REQUEST_METHOD", head.method.as_str())
        .env("PATH_INFO", head.uri.path())
        .env("QUERY_STRING", head.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", header(&CONTENT_TYPE))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header(&CONTENT_ENCODING))
        .env("REMOTE_ADDR", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // The program may respond without reading all input.
        let _unread = stdin.write_all(body).await;
    }
    read(&child.wait_with_output().await?.stdout)
}

/// Git settings of every repository: all branches accept pushes.
fn settings() -> Vec<(String, String)> {
    let settings = [
        ("http.receivepack", "true"),
        ("receive.denyCurrentBranch", "ignore"),
        ("receive.denyDeleteCurrent", "ignore"),
    ];
    let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())];
    for (at, (key, value)) in settings.into_iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{at}"), key.to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{at}"), value.to_owned()));
    }
    variables
}

fn text_of(headers: &HeaderMap, name: &HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// Parses a CGI response: header lines, an empty line, the body.
fn read(output: &[u8]) -> io::Result<Response<Bytes>> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "git http-backend returned no headers");
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").ok_or_else(broken)?;
    let (head, body) = output.split_at(end);
    let body = body.get(4..).unwrap_or_default();
    let mut response = Response::new(Bytes::copy_from_slice(body));
    for line in String::from_utf8_lossy(head).lines() {
        let (name, value) = line.split_once(": ").ok_or_else(broken)?;
        if name == "Status" {
            let status = value.split(' ').next().and_then(|code| code.parse().ok()).ok_or_else(broken)?;
            *response.status_mut() = StatusCode::from_u16(status).map_err(io::Error::other)?;
        } else {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(io::Error::other)?;
            response.headers_mut().insert(name, HeaderValue::from_str(value).map_err(io::Error::other)?);
        }
    }
    Ok(response)
}
