//! A document as stored and sent: the object `content/{type}/{id}.json`.

use jiff::Timestamp;
use lyceum_content::knowledge::{self, Dialect};
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
    /// Serializes the document for storage.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Maps with string keys, strings and numbers: serialization can't fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Renders the document as markdown, with its provenance as frontmatter.
    pub fn to_markdown(&self) -> String {
        markdown::render(self)
    }

    /// The text of the body for search and excerpts.
    pub(crate) fn plain_text(&self) -> String {
        knowledge::plain_text(&self.content, Dialect::of_path(&self.path))
    }

    /// The title: from the frontmatter, else the only first-level heading, else the file name.
    pub fn title(&self) -> String {
        knowledge::title(&self.metadata, &self.plain_text(), &self.path)
    }
}

/// SHA-256 in hex.
pub(crate) fn hash(bytes: &[u8]) -> String {
    const_hex::encode(Sha256::digest(bytes))
}
