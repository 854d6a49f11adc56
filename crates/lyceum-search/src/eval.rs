//! Search quality evaluation: queries with relevance judgements, and ranking metrics.
//!
//! A test set comes from a folder in the BEIR layout ([`beir`]) or from a team's own file ([`questions`]). [`run`] runs
//! every query as a caller would; the results are saved so that the next run can be compared with them ([`compare`]).

pub mod beir;
pub mod compare;
mod last_run;
mod measures;
pub mod questions;
mod run;
mod spread;
mod unmatched;

use std::collections::HashMap;

use crate::{filter::Filter, page::Facts};

pub use last_run::{last_run, save_last_run};
pub use measures::JudgedResults;
pub use run::{Progress, QueryScore, Report, Stage, run, until_embedded};
pub use spread::{Difference, Latency, Mean};
pub use unmatched::{Unmatched, unmatched};

/// A test set: queries and their relevant pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// Its queries.
    pub questions: Vec<Question>,
}

/// A query and its relevant pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Unique within the set.
    pub id: String,
    /// The query text.
    pub text: String,
    /// Filters of the query.
    pub filter: Filter,
    /// The relevant pages.
    pub expected: Expected,
}

/// The relevant pages.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// Relevance grade by page id; grades start at 1.
    Graded(HashMap<String, u32>),
    /// Paths, folders or `type/id`; each expects one page.
    Named(Vec<String>),
}

/// Why a test set is invalid: the file, the position, and what to write. The message is for the author of the set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SetError {
    /// The file, with the line or entry if known.
    pub place: String,
    /// What is wrong, and what to write.
    pub message: String,
}

impl SetError {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl Expected {
    /// Grades a ranked list of pages against the relevant pages.
    pub fn judge<'a>(&self, ranked: impl IntoIterator<Item = &'a Facts>) -> JudgedResults {
        match self {
            Self::Graded(grades) => {
                let grade = |facts: &Facts| grades.get(&facts.id).copied().unwrap_or_default();
                let gains = ranked.into_iter().map(|facts| f64::from(grade(facts))).collect();
                JudgedResults::new(gains, grades.values().map(|grade| f64::from(*grade)).collect())
            }
            Self::Named(names) => {
                // The first page of an expected folder counts; further pages of it gain nothing.
                let mut wanted: Vec<Option<&String>> = names.iter().map(Some).collect();
                let mut gain = |facts: &Facts| {
                    let place =
                        wanted.iter_mut().find(|name| name.is_some_and(|name| matches_name(name, facts)));
                    if place.and_then(Option::take).is_some() { 1.0 } else { 0.0 }
                };
                let gains = ranked.into_iter().map(&mut gain).collect();
                JudgedResults::new(gains, vec![1.0; names.len()])
            }
        }
    }
}

/// Whether a page has this path or `type/id`, or is in this folder.
fn matches_name(name: &str, facts: &Facts) -> bool {
    let inside = |rest: &str| rest.is_empty() || name.ends_with('/') || rest.starts_with('/');
    facts.path.strip_prefix(name).is_some_and(inside) || facts.key() == name
}

#[cfg(test)]
mod tests;
