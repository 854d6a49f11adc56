//! The text of a skill, prepared for ranking: weighted stems for BM25, and a passage to embed.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use lyceum_content::skill::Draft;
use lyceum_search::terms;
use serde_json::Value;
use sha2::{Digest, Sha256};

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
    /// Hashed stems with their weights, distinct.
    pub(super) weights: Vec<(u64, f32)>,
    /// Sum of the weights.
    pub(super) length: f32,
    /// The text to embed: name and description.
    pub(crate) passage: String,
    pub(crate) hash: TextHash,
}

/// The fields of a skill that are ranked, as text.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) name: String,
    pub(super) parent_folders: String,
    pub(super) tags: String,
    pub(super) headings: String,
}

impl SkillText {
    /// Prepares a skill.
    pub(crate) fn of(draft: &Draft) -> Self {
        let fields = Fields::of(draft);
        let mut weights: HashMap<u64, f32> = HashMap::new();
        let mut add = |text: &str, weight: f32| {
            for term in terms(text) {
                *weights.entry(stem_hash(&term.stem)).or_default() += weight;
            }
        };
        add(&fields.name, NAME);
        add(&fields.parent_folders, PARENT_FOLDERS);
        add(&fields.tags, TAGS);
        add(&draft.description, DESCRIPTION);
        for (stem, _) in counts(&fields.headings) {
            *weights.entry(stem).or_default() += HEADINGS;
        }
        for (stem, count) in counts(start(&draft.body, MAX_BODY_BYTES)) {
            *weights.entry(stem).or_default() += BODY * count.min(MAX_BODY_COUNT);
        }
        let passage = format!("{}. {}", fields.name, draft.description);
        let hash = Sha256::digest(&passage).into();
        let length = weights.values().sum();
        Self { weights: weights.into_iter().collect(), length, passage, hash }
    }
}

impl Fields {
    pub(super) fn of(draft: &Draft) -> Self {
        let standard = draft.standard.as_ref();
        let name = standard.and_then(|one| one.name.as_deref()).unwrap_or_else(|| draft.path.name());
        let parents = draft.path.as_str().rsplit_once('/').map_or("", |(parents, _)| parents);
        Self {
            name: name.replace('-', " "),
            parent_folders: parents.replace(['/', '-'], " "),
            tags: standard.map(|standard| tags(&standard.frontmatter)).unwrap_or_default(),
            headings: headings(&draft.body),
        }
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

/// The headings outside of fenced code, one per line.
fn headings(body: &str) -> String {
    let mut is_code = false;
    let mut headings = Vec::new();
    for line in body.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
        } else if let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) {
            headings.push(heading.trim_start_matches('#').trim());
        }
    }
    headings.join("\n")
}

/// The start of a text, at most `max` bytes.
fn start(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}
