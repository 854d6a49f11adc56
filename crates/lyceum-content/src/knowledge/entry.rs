//! An entry: the row of a document in the catalog, without its body.

use jiff::Timestamp;
use lyceum_model::RelPath;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::ontology;

/// Input for [`Entry::new`].
#[derive(Debug, Clone)]
pub struct EntryParts {
    /// Its id, unique within its type.
    pub id: String,
    /// Its type.
    pub content_type: String,
    /// Its file.
    pub path: RelPath,
    /// Its title, or a substitute.
    pub title: String,
    /// The first paragraph.
    pub excerpt: String,
    /// The fields of its frontmatter.
    pub metadata: Map<String, Value>,
    /// The commit it was synced at; for a folder, `tree-` and a hash of its files.
    pub version: String,
    /// When it was synced.
    pub synced_at: Timestamp,
    /// Link to the file at that commit.
    pub url: Option<String>,
    /// Content hash of the stored document.
    pub hash: String,
    /// The line of the file on which the body starts, from 1.
    pub first_line: usize,
}

/// The row of a document in the catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What clients see in a list.
    pub summary: Summary,
    /// The first paragraph.
    pub excerpt: String,
    /// The fields of its frontmatter.
    pub metadata: Map<String, Value>,
    /// Content hash of the stored document.
    pub hash: String,
    /// The line of the file on which the body starts, from 1.
    pub first_line: usize,
    /// Its date, for sorting.
    pub moment: Option<Timestamp>,
    /// `summary` as JSON, serialized once because it is sent often.
    pub json: Box<str>,
}

/// A document as it appears in lists.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The id, unique within the type.
    pub id: String,
    /// The type.
    pub content_type: String,
    /// The title.
    pub title: String,
    /// The `description` field, or the first paragraph.
    pub description: String,
    /// The group or cell it belongs to.
    pub group: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The release it is part of.
    pub release: Option<String>,
    /// The status, for projects and questions.
    pub status: Option<String>,
    /// The date, as written in the frontmatter.
    pub date: Option<String>,
    /// Its file in the source.
    pub path: String,
    /// Link to the file at that commit; null if there is none.
    pub url: Option<String>,
    /// The commit it was synced at; for a folder, `tree-` and a hash of its files.
    pub commit_sha: String,
    /// When it was synced.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub synced_at: Timestamp,
}

impl Entry {
    /// Builds an entry from its parts.
    pub fn new(parts: EntryParts) -> Self {
        let EntryParts { id, content_type, path, title, excerpt, metadata, .. } = parts;
        let EntryParts { version, synced_at, url, hash, first_line, .. } = parts;
        let text = |key: &str| {
            metadata.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
        };
        let date = text("date").and_then(|text| Some((text.to_owned(), ontology::moment(text)?)));
        let summary = Summary {
            id,
            content_type,
            title,
            description: text("description").unwrap_or(&excerpt).to_owned(),
            group: text("group").map(str::to_owned),
            tags: texts(metadata.get("tags")),
            release: text("release").map(str::to_owned),
            status: text("status").map(str::to_owned),
            date: date.as_ref().map(|(text, _)| text.clone()),
            path: path.as_str().to_owned(),
            url,
            commit_sha: version,
            synced_at,
        };
        let json = serde_json::to_string(&summary).unwrap_or_default().into_boxed_str();
        let moment = date.map(|(_, moment)| moment);
        Self { summary, excerpt, metadata, hash, first_line, moment, json }
    }

    /// The unique key, `type/id`.
    pub fn key(&self) -> String {
        format!("{}/{}", self.summary.content_type, self.summary.id)
    }

    /// The strings of a list field.
    pub fn texts(&self, field: &str) -> Vec<String> {
        texts(self.metadata.get(field))
    }
}

/// The strings of a list, or a single string as a list of one.
pub fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}
