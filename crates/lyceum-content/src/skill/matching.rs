//! Finding the skill for a task by its keywords: deterministic, without a model.
//!
//! All keywords of all skills are one vocabulary, searched once for a whole query, so that the time grows with the
//! text of the vocabulary and not with the number of skills times the number of words.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::{MatchSettings, tokens::tokenize};

/// Words and keywords shorter than this match only when they are equal: `go` is not `golang`.
const SHORT: usize = 3;

/// A skill that fits, and how well.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The skill, by its place in the index.
    pub skill: usize,
    /// The share of its keywords that fit, and a little for its priority.
    pub score: f64,
}

/// What a query comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Match {
    /// No skill fits.
    Nothing,
    /// Two or more fit about equally well; the best of them, best first.
    Ambiguous(Vec<Hit>),
    /// One fits best.
    One(Hit),
}

/// Every keyword of every skill.
#[derive(Debug)]
pub(super) struct Vocabulary {
    words: HashMap<String, usize>,
    /// The skills of each word.
    skills: Vec<Vec<u32>>,
    /// The words of [`SHORT`] characters or more, a line each, and where each begins.
    text: String,
    lines: Vec<(usize, usize)>,
    /// Finds those words in a text.
    finder: Option<AhoCorasick>,
    keyword_counts: Vec<u32>,
    priorities: Vec<f64>,
}

impl Vocabulary {
    /// Takes the keywords (in lower case) and the priority of each skill, in the order of the index.
    pub(super) fn new<'a>(skills: impl Iterator<Item = (&'a [String], f64)>) -> Self {
        let mut vocabulary = Self {
            words: HashMap::new(),
            skills: Vec::new(),
            text: String::new(),
            lines: Vec::new(),
            finder: None,
            keyword_counts: Vec::new(),
            priorities: Vec::new(),
        };
        for (skill, (keywords, priority)) in skills.enumerate() {
            for keyword in keywords {
                vocabulary.add(keyword, skill);
            }
            vocabulary.keyword_counts.push(u32::try_from(keywords.len()).unwrap_or(u32::MAX));
            vocabulary.priorities.push(priority);
        }
        vocabulary.finder = AhoCorasick::new(vocabulary.text.lines()).ok();
        vocabulary
    }

    fn add(&mut self, keyword: &str, skill: usize) {
        let word = self.words.get(keyword).copied().unwrap_or_else(|| self.add_word(keyword));
        if let (Some(skills), Ok(skill)) = (self.skills.get_mut(word), u32::try_from(skill)) {
            skills.push(skill);
        }
    }

    fn add_word(&mut self, keyword: &str) -> usize {
        let word = self.skills.len();
        self.words.insert(keyword.to_owned(), word);
        self.skills.push(Vec::new());
        if keyword.chars().count() >= SHORT {
            self.lines.push((self.text.len(), word));
            self.text.push_str(keyword);
            self.text.push('\n');
        }
        word
    }

    /// The skills that fit, best first; equals in the order of the index.
    pub(super) fn search(&self, context: &str, least: f64) -> Vec<Hit> {
        let fitting = self.fitting(&tokenize(context));
        let mut counts: HashMap<u32, u32> = HashMap::new();
        let words = fitting.iter().zip(&self.skills).filter(|(fits, _)| **fits);
        for skill in words.flat_map(|(_, skills)| skills) {
            *counts.entry(*skill).or_default() += 1;
        }
        let mut hits: Vec<Hit> = counts
            .into_iter()
            .filter_map(|(skill, count)| {
                let skill = usize::try_from(skill).ok()?;
                let score = f64::from(count) / f64::from(*self.keyword_counts.get(skill)?)
                    + self.priorities.get(skill)? * 0.001;
                (score >= least).then_some(Hit { skill, score })
            })
            .collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.skill.cmp(&other.skill)));
        hits
    }

    /// Which of those keywords fit that text.
    pub(super) fn matched<'a>(&self, context: &str, keywords: &'a [String]) -> Vec<&'a str> {
        let fitting = self.fitting(&tokenize(context));
        let fits = |keyword: &str| self.words.get(keyword).and_then(|word| fitting.get(*word)) == Some(&true);
        keywords.iter().map(String::as_str).filter(|keyword| fits(keyword)).collect()
    }

    /// For each word of the vocabulary, whether some token fits it.
    fn fitting(&self, tokens: &[String]) -> Vec<bool> {
        let mut fitting = vec![false; self.skills.len()];
        let mut mark = |word: usize| {
            if let Some(fits) = fitting.get_mut(word) {
                *fits = true;
            }
        };
        tokens.iter().filter_map(|token| self.words.get(token)).for_each(|word| mark(*word));
        let long: Vec<&str> =
            tokens.iter().map(String::as_str).filter(|token| token.chars().count() >= SHORT).collect();
        // The token contains the keyword: both of them long enough.
        if let Some(finder) = &self.finder {
            for found in finder.find_overlapping_iter(&long.join("\n")) {
                if let Some((_, word)) = self.lines.get(found.pattern().as_usize()) {
                    mark(*word);
                }
            }
        }
        // The keyword contains the token.
        for token in long {
            for at in memmem::find_iter(self.text.as_bytes(), token) {
                let line = self.lines.partition_point(|(start, _)| *start <= at);
                if let Some((_, word)) = line.checked_sub(1).and_then(|line| self.lines.get(line)) {
                    mark(*word);
                }
            }
        }
        fitting
    }
}

/// Decides between hits that are in order, best first.
pub(super) fn decide(mut hits: Vec<Hit>, settings: &MatchSettings) -> Match {
    match hits.as_slice() {
        [] => Match::Nothing,
        [best, second, ..] if best.score - second.score < settings.ambiguity_threshold => {
            hits.truncate(settings.max_results);
            Match::Ambiguous(hits)
        }
        [best, ..] => Match::One(best.clone()),
    }
}
