//! Expected pages that are not in the index: such a query can only miss, and the author of the set should know.

use std::sync::Arc;

use lyceum_store::pages;
use serde::{Deserialize, Serialize};

use super::{Expected, Set, matches_name};
use crate::{error::Error, memory::facts, page::Facts, search::Search};

/// Minimum similarity of a path that is suggested.
const MIN_SIMILARITY: f64 = 0.85;

/// An expected page that is not in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmatched {
    /// The query.
    pub question: String,
    /// The path, folder or `type/id` that matches nothing.
    pub expect: String,
    /// The most similar path, if one is similar.
    pub nearest: Option<String>,
}

/// The names in a set that match no page of the index.
pub async fn unmatched(search: &Search, set: &Set) -> Result<Vec<Unmatched>, Error> {
    let opened = search.opened().await?;
    let index = opened.index;
    let indexed: Vec<Arc<Facts>> = opened
        .db
        .read(move |tx| pages::all(tx, index)?.iter().map(facts).collect::<Result<Vec<_>, _>>())
        .await?;
    let mut unmatched = Vec::new();
    for question in &set.questions {
        let Expected::Named(names) = &question.expected else { continue };
        for name in names.iter().filter(|name| !indexed.iter().any(|facts| matches_name(name, facts))) {
            let (question, expect) = (question.text.clone(), name.clone());
            unmatched.push(Unmatched { question, expect, nearest: nearest(name, &indexed) });
        }
    }
    Ok(unmatched)
}

fn nearest(name: &str, indexed: &[Arc<Facts>]) -> Option<String> {
    // A path that goes on from, or is the end of, what was written is what was meant.
    let similarity = |path: &str| match path.ends_with(name) || name.ends_with(path) {
        true => 1.0,
        false => strsim::jaro_winkler(name, path),
    };
    let paths = indexed.iter().map(|facts| facts.path.as_str()).filter(|path| !path.is_empty());
    let (near, path) = paths.map(|path| (similarity(path), path)).max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (near >= MIN_SIMILARITY).then(|| path.to_owned())
}
