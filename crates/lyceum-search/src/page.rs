//! A page: a document as search indexes it, independent of the service it comes from.

mod guess;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The kind of text, which selects the chunker and the fusion weights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Prose, split by headings.
    #[default]
    Prose,
    /// Code, split by definitions.
    Code,
}

/// Metadata of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The id, unique within the source and the type.
    pub id: String,
    /// The type.
    pub content_type: String,
    /// Prose or code.
    pub kind: Kind,
    /// The title.
    pub title: String,
    /// A short description.
    pub description: String,
    /// Path of the file in the source.
    pub path: String,
    /// Link to the file at its commit, if there is one.
    pub url: Option<String>,
    /// The commit it was synced at.
    pub commit_sha: String,
    /// Time of that sync.
    pub synced_at: Timestamp,
    /// The group or cell it belongs to.
    pub group: Option<String>,
    /// The release it is part of.
    pub release: Option<String>,
    /// Its status, such as `draft`.
    pub status: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its date.
    pub date: Option<Timestamp>,
    /// Its language, such as `de` or `zh-CN`, if it is known.
    #[serde(default)]
    pub language: Option<String>,
    /// Other names, found like the title.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// A document to index.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Its metadata.
    pub facts: Facts,
    /// Version of content and metadata; a change re-indexes the page.
    pub version: String,
    /// Text that precedes the body, from the frontmatter; may be empty.
    pub about: String,
    /// The body.
    pub body: String,
    /// Line of the file on which the body starts, 1-based.
    pub first_line: usize,
}

impl Facts {
    /// The key `type/id`, unique within a source.
    pub fn key(&self) -> String {
        format!("{}/{}", self.content_type, self.id)
    }
}
