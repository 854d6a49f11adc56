//! The objects in a data folder on disk.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{CANARY, Program, eventually};

/// Maximum length of a file name that is stored unchanged.
const MAX_FILE_NAME_BYTES: usize = 251;

/// All objects by key; documents and the manifest without the fields that differ between syncs.
#[derive(Debug, PartialEq)]
pub(in crate::knowledge) struct Shelf {
    documents: BTreeMap<String, Value>,
    files: BTreeMap<String, Vec<u8>>,
    manifest: Value,
}

impl Shelf {
    /// Waits until exactly the objects of a commit are stored.
    pub(in crate::knowledge) async fn settled(data: &Path, commit: &str) -> Self {
        eventually("the objects are where they belong", || async { Self::read(data, commit) }).await
    }

    /// The objects of a commit; an error if they are inconsistent or incomplete.
    pub(in crate::knowledge) fn read(data: &Path, commit: &str) -> Result<Self, String> {
        let root = objects(data).ok_or("there is no folder of objects")?;
        let mut found = BTreeMap::new();
        collect(&root, "", &mut found).map_err(|error| error.to_string())?;
        if let Some((key, _)) = found.iter().find(|(_, bytes)| contains(bytes, CANARY)) {
            panic!("{key} holds what is not meant to be served");
        }
        let mut manifest = json(&found.remove("metadata/manifest.json").ok_or("there is no manifest")?)?;
        if manifest["commitSha"] != commit {
            return Err(format!("the manifest is of {}", manifest["commitSha"]));
        }
        let (mut documents, mut files) = (BTreeMap::new(), BTreeMap::new());
        for listed in manifest["documents"].as_array_mut().ok_or("the manifest lists nothing")? {
            let text = |field: &str| listed[field].as_str().unwrap_or_default().to_owned();
            let (key, path) = (format!("content/{}/{}.json", text("contentType"), text("id")), text("path"));
            let bytes = found.remove(&key).ok_or_else(|| format!("{key} is missing"))?;
            if digest(&bytes) != text("sha256") {
                return Err(format!("{key} is not what the manifest says"));
            }
            let mut document = json(&bytes)?;
            for field in ["contentType", "id", "path"] {
                assert_eq!(document[field], listed[field], "{key} says another {field}");
            }
            strip(&mut document, &["syncedAt", "commitSha", "url"]);
            strip(listed, &["sha256"]);
            documents.insert(key, document);
            match found.remove(&format!("raw/{path}")) {
                Some(bytes) => drop(files.insert(path, bytes)),
                None if path.split('/').any(|part| part.len() > MAX_FILE_NAME_BYTES) => {}
                None => return Err(format!("raw/{path} is missing")),
            }
        }
        if let Some(key) = found.keys().next() {
            return Err(format!("{key} is there, and belongs to no document"));
        }
        strip(&mut manifest, &["syncedAt", "commitSha"]);
        Ok(Self { documents, files, manifest })
    }

    /// Checks that another data folder has the same objects.
    #[track_caller]
    pub(in crate::knowledge) fn check_equal_to(&self, other: &Self) {
        let keys = |shelf: &Self| shelf.documents.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(self), keys(other), "other documents");
        for (key, document) in &self.documents {
            assert_eq!(document, &other.documents[key], "{key} differs");
        }
        assert_eq!(self.manifest, other.manifest, "the manifests differ");
        assert!(self.files == other.files, "the files as they came differ");
    }

    /// Checks that exactly these documents are listed, and that the first of them are served as stored.
    pub(super) async fn check_served_by(&self, program: &Program, listed: &[Value]) {
        let key = |entry: &Value| {
            format!("{}/{}", entry["contentType"].as_str().unwrap(), entry["id"].as_str().unwrap())
        };
        let mut keys: Vec<String> = listed.iter().map(key).collect();
        for key in keys.iter().take(10) {
            let served = program.document(key).await;
            assert_eq!(served.as_ref(), Ok(&self.documents[&format!("content/{key}.json")]), "{key}");
        }
        keys.sort();
        let kept =
            self.documents.keys().map(|key| key.trim_start_matches("content/").trim_end_matches(".json"));
        let mut kept: Vec<&str> = kept.collect();
        kept.sort_unstable();
        assert_eq!(keys, kept, "other documents are listed than are kept");
    }

    /// The ids of documents by their files.
    pub(in crate::knowledge) fn ids(&self) -> BTreeMap<&str, String> {
        let listed = self.manifest["documents"].as_array().unwrap();
        let id =
            |one: &Value| format!("{}/{}", one["contentType"].as_str().unwrap(), one["id"].as_str().unwrap());
        listed.iter().map(|one| (one["path"].as_str().unwrap(), id(one))).collect()
    }

    /// Number of files in a state, such as `published`.
    pub(in crate::knowledge) fn count(&self, state: &str) -> i64 {
        self.manifest["files"][state].as_i64().unwrap()
    }

    /// The document of a file.
    #[track_caller]
    pub(in crate::knowledge) fn document(&self, path: &str) -> &Value {
        let found = self.documents.values().find(|document| document["path"] == path);
        found.unwrap_or_else(|| panic!("{path} is not served, but {:?}", self.ids()))
    }

    /// The text of the document of a file.
    #[track_caller]
    pub(in crate::knowledge) fn text(&self, path: &str) -> &str {
        self.document(path)["content"].as_str().unwrap()
    }

    /// A file as stored.
    pub(in crate::knowledge) fn raw(&self, path: &str) -> &[u8] {
        &self.files[path]
    }
}

/// The object folder of the only knowledge base in a data folder.
pub(in crate::knowledge) fn objects(data: &Path) -> Option<PathBuf> {
    Some(knowledge(data)?.join("objects")).filter(|folder| folder.is_dir())
}

/// The folder of the only knowledge base in a data folder.
pub(in crate::knowledge) fn knowledge(data: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(data.join("knowledge")).ok()?.flatten();
    Some(entries.next()?.path())
}

/// Reads all files below a folder, by their keys as the store encodes them. A file that is being written has `#` in
/// its name, and is not an object yet.
fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{prefix}{}/", decode(&name)), found)?;
        } else if !name.contains('#') {
            let name = name.strip_suffix(".%").unwrap_or(&name);
            found.insert(format!("{prefix}{}", decode(name)), fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn decode(name: &str) -> String {
    name.replace("%2E", ".").replace("%23", "#").replace("%25", "%")
}

fn json(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// Removes fields that must exist.
pub(super) fn strip(value: &mut Value, fields: &[&str]) {
    let object = value.as_object_mut().unwrap();
    for field in fields {
        assert!(object.remove(*field).is_some(), "there is no {field}");
    }
}

fn digest(bytes: &[u8]) -> String {
    const_hex::encode(Sha256::digest(bytes))
}

fn contains(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}
