//! Evaluation: questions whose answers are known, and how well search finds them.
//!
//! A set comes from a folder in the BEIR layout ([`beir`]) or from a team's own file ([`questions`]); [`run`] asks every
//! question as a caller would and keeps what came, so that the next run can say what has changed ([`compare`]).

pub mod beir;
pub mod compare;
mod last_run;
mod measures;
pub mod questions;
mod run;
mod spread;

use std::collections::HashMap;

use crate::{filter::Filter, page::Facts};

pub use last_run::{last_run, save_last_run};
pub use measures::JudgedResults;
pub use run::{Progress, QueryScore, Report, Stage, run, until_embedded};
pub use spread::{Difference, Latency, Mean};

/// Questions and what answers them.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// What it is called.
    pub name: String,
    /// The questions.
    pub questions: Vec<Question>,
}

/// A question and what answers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What no two questions of a set share.
    pub id: String,
    /// The question itself.
    pub text: String,
    /// What may be found.
    pub filter: Filter,
    /// What should be found.
    pub expected: Expected,
}

/// What should be found.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// Pages by their id, each with how good an answer it is, from 1 on.
    Graded(HashMap<String, u32>),
    /// Paths, folders or `type/id`: one page for each of them.
    Named(Vec<String>),
}

/// Why a set can't be used: the file, where in it, and what to write. The text is for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SetFault {
    /// The file, with the line or the entry where there is one.
    pub place: String,
    /// What is wrong, and what to write.
    pub message: String,
}

impl SetFault {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl Expected {
    /// What each of the pages that were found is worth, in order, beside what could be had.
    pub fn judge<'a>(&self, found: impl IntoIterator<Item = &'a Facts>) -> JudgedResults {
        match self {
            Self::Graded(grades) => {
                let grade = |facts: &Facts| grades.get(&facts.id).copied().unwrap_or_default();
                let gains = found.into_iter().map(|facts| f64::from(grade(facts))).collect();
                JudgedResults::new(gains, grades.values().map(|grade| f64::from(*grade)).collect())
            }
            Self::Named(names) => {
                // A folder is found with the first page of it; the second is not worth anything more.
                let mut wanted: Vec<Option<&String>> = names.iter().map(Some).collect();
                let mut gain = |facts: &Facts| {
                    let place = wanted.iter_mut().find(|name| name.is_some_and(|name| is_meant(name, facts)));
                    if place.and_then(Option::take).is_some() { 1.0 } else { 0.0 }
                };
                let gains = found.into_iter().map(&mut gain).collect();
                JudgedResults::new(gains, vec![1.0; names.len()])
            }
        }
    }
}

/// Whether a page is the one of that path or `type/id`, or lies in that folder.
fn is_meant(name: &str, facts: &Facts) -> bool {
    let inside = |rest: &str| rest.is_empty() || name.ends_with('/') || rest.starts_with('/');
    facts.path.strip_prefix(name).is_some_and(inside) || facts.key() == name
}

#[cfg(test)]
mod tests;
