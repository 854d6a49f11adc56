//! A page: a document as search takes it, whatever service it comes from.

mod guess;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a page is made of, which decides how it is cut and how its stages are weighed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text for people: cut by headings.
    #[default]
    Prose,
    /// Text for machines: cut by definitions.
    Code,
}

/// What is known of a page besides its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The id, unique within the source and the type.
    pub id: String,
    /// The type.
    pub content_type: String,
    /// What it is made of.
    pub kind: Kind,
    /// The title.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// Its file in the source.
    pub path: String,
    /// Link to the file at its commit, if there is one.
    pub url: Option<String>,
    /// The commit it was synced at.
    pub commit_sha: String,
    /// When that was.
    pub synced_at: Timestamp,
    /// The group or cell it belongs to.
    pub group: Option<String>,
    /// The release it is part of.
    pub release: Option<String>,
    /// How far it is.
    pub status: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its day.
    pub date: Option<Timestamp>,
}

/// A document as search takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// What is known of it.
    pub facts: Facts,
    /// Stands for all of it: with another one, it is read again.
    pub version: String,
    /// What it says of itself above its text; empty where it says nothing.
    pub about: String,
    /// Its text.
    pub body: String,
    /// The line of the file that the text begins on, from 1 on.
    pub first_line: usize,
}

impl Facts {
    /// `type/id`: what no two pages of a source share.
    pub fn key(&self) -> String {
        format!("{}/{}", self.content_type, self.id)
    }
}
