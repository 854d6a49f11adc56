//! A task, split into words once for ranking and for reasons.

use std::{collections::HashSet, sync::LazyLock};

use lyceum_search::terms;

use super::text::stem_hash;

/// Stems of words that tasks of every kind have.
const GENERIC: &str = "use user skill want need help make get give put ask add new file code project write creat work \
    thing way chang run set start someon peopl pleas let tri team good best one two all edit open read show find check \
    fix updat build";

/// A task description.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(super) text: &'a str,
    /// Without stop words, in order, each stem once.
    words: Vec<Word>,
}

/// A word of a task.
#[derive(Debug)]
pub(super) struct Word {
    /// Hash of its stem.
    pub(super) stem: u64,
    /// Whether tasks of every kind have it.
    pub(super) is_generic: bool,
    range: std::ops::Range<usize>,
}

impl<'a> Task<'a> {
    /// Splits a task into words.
    pub(crate) fn new(text: &'a str) -> Self {
        static GENERIC_STEMS: LazyLock<HashSet<&str>> =
            LazyLock::new(|| GENERIC.split_whitespace().collect());
        let mut seen = HashSet::new();
        let words = terms(text).into_iter().filter_map(|term| {
            let stem = stem_hash(&term.stem);
            let is_generic = GENERIC_STEMS.contains(term.stem.as_str());
            seen.insert(stem).then_some(Word { stem, is_generic, range: term.range })
        });
        Self { text, words: words.collect() }
    }

    /// Its words, each stem once.
    pub(super) fn distinct_words(&self) -> impl Iterator<Item = &Word> {
        self.words.iter()
    }

    /// A word as the task writes it, in lower case.
    pub(super) fn written(&self, word: &Word) -> Option<String> {
        Some(self.text.get(word.range.clone())?.to_lowercase())
    }
}
