//! A document as it is kept and sent: the object under `content/{type}/{id}.json`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::markdown;

/// A full document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The id, unique within the type.
    pub id: String,
    /// The type.
    pub content_type: String,
    /// Its file in the source.
    pub path: String,
    /// The fields of the frontmatter.
    pub metadata: Map<String, Value>,
    /// The markdown after the frontmatter.
    pub content: String,
    /// When it was synced.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub synced_at: Timestamp,
    /// The commit it was synced at; for a folder, `tree-` and a hash of its files.
    pub commit_sha: String,
    /// The source it comes from.
    pub source: String,
    /// Link to the file at that commit; null if there is none.
    pub url: Option<String>,
}

impl Document {
    /// The document as it is kept.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Maps with text keys, texts and numbers: there is nothing that could fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The document as markdown: where it comes from, as YAML, and its text.
    pub fn to_markdown(&self) -> String {
        markdown::written(self)
    }

    /// The title: what the frontmatter says, else the first heading, else the name of the file.
    pub fn title(&self) -> String {
        title(&self.metadata, &self.content, &self.path)
    }
}

/// A title for a document, whatever it says.
pub(crate) fn title(fields: &Map<String, Value>, body: &str, path: &str) -> String {
    let declared =
        fields.get("title").and_then(Value::as_str).map(str::trim).filter(|title| !title.is_empty());
    let named = || {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.strip_suffix(".md").unwrap_or(name).to_owned()
    };
    declared.map(str::to_owned).or_else(|| lyceum_content::knowledge::heading(body)).unwrap_or_else(named)
}

/// The hash of bytes, as text.
pub(crate) fn hash(bytes: &[u8]) -> String {
    const_hex::encode(Sha256::digest(bytes))
}
