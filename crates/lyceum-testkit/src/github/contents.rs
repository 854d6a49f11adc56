//! The Contents API of the fake GitHub: files, folders, symbolic links and submodules of branches, with entity tags,
//! and scripted failures.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    process::{Command, Stdio},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{ACCEPT, ETAG, HeaderValue, IF_NONE_MATCH, LOCATION},
};
use serde_json::{Value, json};

/// Files larger than this have no content in JSON.
const MAX_JSON_FILE_BYTES: usize = 1024 * 1024;

/// GitHub breaks base64 into lines of this length.
const BASE64_LINE: usize = 60;

/// Repositories with their files.
#[derive(Default)]
pub(super) struct Repositories {
    all: BTreeMap<String, Repository>,
    /// Renamed repositories, with their new names.
    renamed: BTreeMap<String, String>,
    /// Where contents are redirected to, instead of being answered.
    elsewhere: Option<String>,
}

#[derive(Default)]
struct Repository {
    /// The tokens that may read it; `None` if everyone may.
    readers: Option<Vec<String>>,
    /// By branch and path.
    files: BTreeMap<(String, String), Node>,
}

enum Node {
    File { bytes: Vec<u8>, sha: String },
    Symlink(String),
    Submodule(String),
}

/// A response that a test prescribes.
#[derive(Debug, Clone)]
pub enum ScriptedResponse {
    /// This status, with headers and message.
    Status(u16, Vec<(&'static str, String)>, &'static str),
    /// None at all.
    Never,
    /// The status 502, after the request was carried out: the real response is lost.
    Lost,
}

/// A request to the Contents API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentsRequest {
    /// The path of the URL.
    pub path: String,
    /// The branch.
    pub branch: String,
    /// The bearer token.
    pub token: Option<String>,
    /// The media type that it asks for.
    pub accept: String,
    /// Whether it has an entity tag.
    pub is_conditional: bool,
}

impl Repositories {
    /// Adds a repository that everyone, or only the owners of these tokens, may read.
    pub(super) fn add(&mut self, name: &str, readers: Option<&[&str]>) {
        let readers = readers.map(|tokens| tokens.iter().map(|token| (*token).to_owned()).collect());
        self.all.insert(name.to_owned(), Repository { readers, ..Repository::default() });
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        if let Some(repository) = self.all.remove(from) {
            self.all.insert(to.to_owned(), repository);
            self.renamed.insert(from.to_owned(), to.to_owned());
        }
    }

    pub(super) fn redirect_to(&mut self, origin: &str) {
        self.elsewhere = Some(origin.to_owned());
    }

    pub(super) fn write(&mut self, repo: &str, branch: &str, path: &str, bytes: &[u8]) -> io::Result<()> {
        let node = Node::File { bytes: bytes.to_owned(), sha: blob_id(bytes)? };
        self.put(repo, branch, path, node);
        Ok(())
    }

    pub(super) fn link(&mut self, repo: &str, branch: &str, path: &str, target: &str) {
        self.put(repo, branch, path, Node::Symlink(target.to_owned()));
    }

    pub(super) fn submodule(&mut self, repo: &str, branch: &str, path: &str, url: &str) {
        self.put(repo, branch, path, Node::Submodule(url.to_owned()));
    }

    pub(super) fn remove(&mut self, repo: &str, branch: &str, path: &str) {
        if let Some(repository) = self.all.get_mut(repo) {
            repository.files.remove(&(branch.to_owned(), path.to_owned()));
        }
    }

    fn put(&mut self, repo: &str, branch: &str, path: &str, node: Node) {
        let repository = self.all.entry(repo.to_owned()).or_default();
        repository.files.insert((branch.to_owned(), path.to_owned()), node);
    }

    /// Answers `/repos/{owner}/{name}/contents/{path}`, with a token that is known.
    pub(super) fn respond(
        &self,
        request: &ContentsRequest,
        path_and_query: &str,
        headers: &HeaderMap,
    ) -> Response<Full<Bytes>> {
        if let Some(origin) = &self.elsewhere {
            return redirect(302, &format!("{origin}{path_and_query}"));
        }
        let Some((repo, path)) = parts(&request.path) else { return not_found() };
        if let Some(new) = self.renamed.get(&repo) {
            let target = path_and_query.replacen(&format!("/repos/{repo}/"), &format!("/repos/{new}/"), 1);
            return redirect(301, &target);
        }
        let Some(repository) = self.all.get(&repo) else { return not_found() };
        let may_read = |readers: &Vec<String>| readers.iter().any(|one| Some(one) == request.token.as_ref());
        if !repository.readers.as_ref().is_none_or(may_read) {
            return not_found();
        }
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        let known = headers.get(IF_NONE_MATCH).and_then(|etag| etag.to_str().ok());
        repository.respond(&request.branch, &path, accept, known)
    }
}

impl Repository {
    fn respond(&self, branch: &str, path: &str, accept: &str, known: Option<&str>) -> Response<Full<Bytes>> {
        let at = |path: &str| self.files.get(&(branch.to_owned(), path.to_owned()));
        let described = |kind: &str, sha: &str, size: usize| {
            json!({ "type": kind, "name": name(path), "path": path, "sha": sha, "size": size,
                "url": "", "git_url": "", "html_url": "", "download_url": null, "_links": {} })
        };
        let body = match at(path) {
            None => match self.entries(branch, path) {
                entries if entries.is_empty() => return not_found(),
                entries if accept.contains("object") => with(described("dir", "0", 0), "entries", entries),
                entries => entries.into(),
            },
            Some(Node::File { bytes, sha }) => {
                return file(described("file", sha, bytes.len()), bytes, sha, accept, known);
            }
            Some(Node::Symlink(target)) => match at(target) {
                Some(Node::File { bytes, sha }) => {
                    return file(described("file", sha, bytes.len()), bytes, sha, accept, known);
                }
                _ => with(described("symlink", "1", target.len()), "target", target.as_str()),
            },
            Some(Node::Submodule(url)) => {
                with(described("submodule", "2", 0), "submodule_git_url", url.as_str())
            }
        };
        answer(200, body.to_string())
    }

    /// The entries of a folder.
    fn entries(&self, branch: &str, folder: &str) -> Vec<Value> {
        let start = format!("{folder}/");
        let below = self.files.iter().filter_map(|((on, path), node)| {
            let rest = path.strip_prefix(&start).filter(|_| on == branch)?;
            Some(match rest.split_once('/') {
                Some((folder, _)) => json!({ "name": folder, "type": "dir" }),
                None => match node {
                    Node::File { .. } => json!({ "name": rest, "type": "file" }),
                    Node::Symlink(_) => json!({ "name": rest, "type": "symlink" }),
                    Node::Submodule(url) => json!({ "name": rest, "type": "file", "submodule_git_url": url }),
                },
            })
        });
        let mut entries: Vec<Value> = below.collect();
        entries.dedup();
        entries
    }
}

fn file(body: Value, bytes: &[u8], sha: &str, accept: &str, known: Option<&str>) -> Response<Full<Bytes>> {
    let etag = format!("W/\"{sha}\"");
    if known == Some(etag.as_str()) {
        return tagged(answer(304, ""), &etag);
    }
    if accept.contains("raw") {
        return tagged(answer(200, bytes.to_vec()), &etag);
    }
    let is_large = bytes.len() > MAX_JSON_FILE_BYTES;
    if is_large && !accept.contains("object") {
        let errors = json!([{ "resource": "Blob", "field": "data", "code": "too_large" }]);
        let message = "This API returns blobs up to 1 MB in size.";
        return answer(403, json!({ "message": message, "errors": errors }).to_string());
    }
    let (encoding, content) =
        if is_large { ("none", String::new()) } else { ("base64", in_lines(&BASE64_STANDARD.encode(bytes))) };
    let body = with(with(body, "encoding", encoding), "content", content);
    tagged(answer(200, body.to_string()), &etag)
}

fn with(mut body: Value, key: &str, value: impl Into<Value>) -> Value {
    if let Some(body) = body.as_object_mut() {
        body.insert(key.to_owned(), value.into());
    }
    body
}

fn in_lines(text: &str) -> String {
    let lines =
        text.as_bytes().chunks(BASE64_LINE).map(|line| String::from_utf8_lossy(line).into_owned() + "\n");
    lines.collect()
}

/// Repository and path of a request, percent-decoded.
fn parts(path: &str) -> Option<(String, String)> {
    let rest = path.strip_prefix("/repos/")?;
    let (repo, path) = rest.split_once("/contents/")?;
    Some((repo.to_owned(), decode(path)))
}

pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn not_found() -> Response<Full<Bytes>> {
    answer(
        404,
        json!({ "message": "Not Found", "documentation_url": "https://docs.github.com/rest" }).to_string(),
    )
}

pub(super) fn answer(status: u16, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response
}

fn tagged(mut response: Response<Full<Bytes>>, etag: &str) -> Response<Full<Bytes>> {
    if let Ok(etag) = HeaderValue::from_str(etag) {
        response.headers_mut().insert(ETAG, etag);
    }
    response
}

fn redirect(status: u16, target: &str) -> Response<Full<Bytes>> {
    let mut response = answer(status, json!({ "message": "Moved Permanently" }).to_string());
    if let Ok(target) = HeaderValue::from_str(target) {
        response.headers_mut().insert(LOCATION, target);
    }
    response
}

/// The id of a blob, computed by git.
fn blob_id(bytes: &[u8]) -> io::Result<String> {
    let mut child = Command::new("git")
        .args(["hash-object", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(bytes)?;
    }
    let output = child.wait_with_output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
