//! The text of a skill, prepared for ranking: weighted stems for BM25, and passages to embed.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use lyceum_content::skill::Draft;
use lyceum_search::terms;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::markdown;

/// Weights of the fields.
const NAME: f32 = 3.0;
const PARENT_FOLDERS: f32 = 1.5;
const TAGS: f32 = 2.0;
const DESCRIPTION: f32 = 1.0;
const HEADINGS: f32 = 1.0;
const BODY: f32 = 0.25;

/// How often a word of the body counts.
const MAX_BODY_COUNT: f32 = 3.0;

/// The part of the body that is read, in bytes.
const MAX_BODY_BYTES: usize = 16 * 1024;

/// Identifies a passage; vectors are cached by it.
pub(crate) type TextHash = [u8; 32];

/// A skill's text.
#[derive(Debug)]
pub(crate) struct SkillText {
    /// Sorted by hash, distinct.
    pub(super) stems: Vec<Stem>,
    /// Sum of the weights.
    pub(super) length: f32,
    /// Name and description, to embed.
    pub(crate) summary: Passage,
    /// The start of the body, to embed; empty if it has no prose.
    pub(crate) body: Vec<Passage>,
}

/// A text to embed.
#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) text: String,
    pub(crate) hash: TextHash,
}

impl Passage {
    fn new(text: String) -> Self {
        Self { hash: Sha256::digest(&text).into(), text }
    }
}

/// A stem of a skill's text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stem {
    pub(super) hash: u64,
    pub(super) weight: f32,
    /// One bit per [`Field`] that has it.
    fields: u8,
}

/// A field that reasons name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Tags,
    Description,
    Headings,
}

impl Field {
    /// The most telling first.
    pub(super) const ALL: [Self; 4] = [Self::Name, Self::Tags, Self::Description, Self::Headings];

    /// How reasons call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Tags => "tags",
            Self::Description => "description",
            Self::Headings => "headings",
        }
    }

    fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

impl Stem {
    /// Whether a field has it.
    pub(super) fn is_in(&self, field: Field) -> bool {
        self.fields & field.bit() != 0
    }
}

impl SkillText {
    /// Prepares a skill.
    pub(crate) fn of(draft: &Draft) -> Self {
        let standard = draft.standard.as_ref();
        let name = standard.and_then(|one| one.name.as_deref()).unwrap_or_else(|| draft.path.name());
        let name = name.replace('-', " ");
        let parent_folders = draft.path.as_str().rsplit_once('/').map_or("", |(parents, _)| parents);
        let tags = standard.map(|standard| tags(&standard.frontmatter)).unwrap_or_default();
        let mut stems: HashMap<u64, (f32, u8)> = HashMap::new();
        let mut add = |counts: HashMap<u64, f32>, weight: f32, max_count: f32, field: Option<Field>| {
            for (stem, count) in counts {
                let (sum, fields) = stems.entry(stem).or_default();
                *sum += weight * count.min(max_count);
                *fields |= field.map_or(0, Field::bit);
            }
        };
        add(counts(&name), NAME, f32::INFINITY, Some(Field::Name));
        add(counts(&parent_folders.replace(['/', '-'], " ")), PARENT_FOLDERS, f32::INFINITY, None);
        add(counts(&tags), TAGS, f32::INFINITY, Some(Field::Tags));
        add(counts(&draft.description), DESCRIPTION, f32::INFINITY, Some(Field::Description));
        add(counts(&markdown::headings(&draft.body)), HEADINGS, 1.0, Some(Field::Headings));
        add(counts(start(&draft.body, MAX_BODY_BYTES)), BODY, MAX_BODY_COUNT, None);
        let mut stems: Vec<Stem> =
            stems.into_iter().map(|(hash, (weight, fields))| Stem { hash, weight, fields }).collect();
        stems.sort_unstable_by_key(|stem| stem.hash);
        let length = stems.iter().map(|stem| stem.weight).sum();
        let summary = Passage::new(format!("{name}. {}", draft.description));
        let body = markdown::passages(&draft.body).map(Passage::new).collect();
        Self { stems, length, summary, body }
    }

    /// A stem, by its hash.
    pub(super) fn stem(&self, hash: u64) -> Option<&Stem> {
        self.stems.get(self.stems.binary_search_by_key(&hash, |stem| stem.hash).ok()?)
    }
}

/// The hash under which a stem is found.
pub(super) fn stem_hash(stem: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    stem.hash(&mut hasher);
    hasher.finish()
}

fn counts(text: &str) -> HashMap<u64, f32> {
    let mut counts: HashMap<u64, f32> = HashMap::new();
    for term in terms(text) {
        *counts.entry(stem_hash(&term.stem)).or_default() += 1.0;
    }
    counts
}

/// The values of `tags` and `metadata.tags`: a list, or one text.
fn tags(frontmatter: &serde_json::Map<String, Value>) -> String {
    let in_metadata = frontmatter.get("metadata").and_then(|metadata| metadata.get("tags"));
    let tags = frontmatter.get("tags").into_iter().chain(in_metadata);
    let texts = tags.flat_map(|tags| match tags {
        Value::Array(tags) => tags.iter().filter_map(Value::as_str).collect(),
        Value::String(tags) => vec![tags.as_str()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// The start of a text, at most `max` bytes.
fn start(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}
