//! The Contents API: one file of a branch, with folders, symbolic links and submodules told apart.

use base64::{Engine, prelude::BASE64_STANDARD};
use lyceum_model::RelPath;
use lyceum_net::Secret;
use serde::Deserialize;
use tokio::time::Instant;

use super::{Error, GitHub, RepoName, Request};
use crate::encode_path;

/// Maximum size of a file, in bytes.
pub const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;

/// Size limit of a response with a file in base64: GitHub sends files of up to 1 MB that way, and folders of up to 1,000
/// entries.
const MAX_JSON_BYTES: usize = 4 * 1024 * 1024;

/// A file of up to 100 MB has its metadata in this form, a folder its entries.
const OBJECT: &str = "application/vnd.github.object+json";

/// The bytes of a file, for those that are too large for base64.
const RAW: &str = "application/vnd.github.raw+json";

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// A file. GitHub also follows a symbolic link to a file of the same repository.
    File(File),
    /// A folder, with its entries.
    Directory(Vec<(String, EntryKind)>),
    /// A symbolic link that leads to a folder, nowhere, or out of the repository.
    Symlink {
        /// Its target.
        target: String,
    },
    /// Another repository.
    Submodule {
        /// Its URL.
        url: String,
    },
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The id of its blob.
    pub sha: String,
}

/// Kind of an entry of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// Another repository.
    Submodule,
}

/// The result of a conditional request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched<T> {
    /// What is there now.
    Changed {
        /// The value.
        value: T,
        /// Its entity tag.
        etag: Option<String>,
    },
    /// What has that entity tag is still current.
    Unchanged,
}

/// The answer of the API: an object, or the entries of a folder.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Entries(Vec<Entry>),
    Object(Box<Object>),
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    submodule_git_url: Option<String>,
}

#[derive(Deserialize)]
struct Object {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    sha: String,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    encoding: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    submodule_git_url: Option<String>,
    #[serde(default)]
    entries: Vec<Entry>,
}

impl GitHub {
    /// Reads what is at a path of a branch, unless it still has that entity tag.
    pub async fn contents(
        &self,
        token: Option<&Secret>,
        (repo, branch): (&RepoName, &str),
        path: &RelPath,
        etag: Option<&str>,
        deadline: Instant,
    ) -> Result<Fetched<Contents>, Error> {
        let address = format!("repos/{repo}/contents/{}", encode_path(path.as_str()));
        let request = Request::get(address).query("ref", branch);
        let described = request.clone().accept(OBJECT).if_none_match(etag).at_most(MAX_JSON_BYTES);
        let raw = request.accept(RAW).at_most(MAX_FILE_BYTES);
        let response = match self.send(token, &described, deadline).await {
            Ok(response) if response.is_unchanged() => return Ok(Fetched::Unchanged),
            // How some servers say that the file must be read as it is.
            Err(Error::Forbidden { is_too_large: true, .. }) => {
                let response = self.send(token, &raw, deadline).await?;
                return Ok(Fetched::Changed { value: file(response.body)?, etag: None });
            }
            answered => answered?,
        };
        let value = match response.json()? {
            Answer::Entries(entries) => directory(entries),
            Answer::Object(object) => match object.kind.as_str() {
                _ if object.submodule_git_url.is_some() => {
                    Contents::Submodule { url: object.submodule_git_url.unwrap_or_default() }
                }
                "dir" => directory(object.entries),
                "symlink" => Contents::Symlink { target: object.target },
                "submodule" => Contents::Submodule { url: String::new() },
                "file" if object.encoding == "base64" => Contents::File(decoded(*object)?),
                "file" if object.size > MAX_FILE_BYTES as u64 => {
                    return Err(Error::TooLarge { limit: MAX_FILE_BYTES });
                }
                "file" => file(self.send(token, &raw, deadline).await?.body)?,
                _ => return Err(Error::Invalid("response")),
            },
        };
        Ok(Fetched::Changed { value, etag: response.etag })
    }
}

fn directory(entries: Vec<Entry>) -> Contents {
    let kind = |entry: &Entry| match entry.kind.as_str() {
        // In a folder, GitHub lists a submodule as a file.
        _ if entry.submodule_git_url.is_some() => EntryKind::Submodule,
        "dir" => EntryKind::Directory,
        "symlink" => EntryKind::Symlink,
        "submodule" => EntryKind::Submodule,
        _ => EntryKind::File,
    };
    Contents::Directory(entries.into_iter().map(|entry| (entry.name.clone(), kind(&entry))).collect())
}

/// A file that was sent in base64, with line breaks.
fn decoded(object: Object) -> Result<File, Error> {
    let content: String = object.content.split_ascii_whitespace().collect();
    let bytes = BASE64_STANDARD.decode(content).map_err(|_| Error::Invalid("response"))?;
    Ok(File { bytes, sha: object.sha })
}

/// A file that was sent as it is. Its id is computed: it may have changed since its metadata was read.
fn file(bytes: Vec<u8>) -> Result<Contents, Error> {
    let sha = blob_id(&bytes).ok_or(Error::Invalid("response"))?;
    Ok(Contents::File(File { bytes, sha }))
}

/// The id that Git gives to a file with these bytes.
pub fn blob_id(bytes: &[u8]) -> Option<String> {
    let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes);
    id.ok().map(|id| id.to_string())
}
