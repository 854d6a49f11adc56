//! Finding the skill for a task by its keywords: deterministic, without a model.
//!
//! All keywords of all skills are one vocabulary, searched once for a whole query, so that the time grows with the
//! text of the vocabulary and not with the number of skills times the number of words.

use std::{borrow::Cow, collections::HashMap};

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::{MatchSettings, tokens::tokenize};

/// How many different words of a text are looked for.
const MAX_QUERY_TOKENS: usize = 200;

/// Words and keywords shorter than this match only when they are equal: `go` is not `golang`.
const MIN_PREFIX_CHARS: usize = 3;

/// So many words of a query are searched for one by one in the vocabulary, more of them all at once.
const MAX_SEPARATE_LOOKUPS: usize = 16;

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

/// A text that is looked for, with the words that fit it. Looking is done once, for everything that is asked of it.
#[derive(Debug)]
pub struct Query<'a> {
    vocabulary: &'a Vocabulary,
    /// For each word of the vocabulary, whether it fits.
    fitting: Vec<bool>,
}

/// Every keyword of every skill.
#[derive(Debug)]
pub(super) struct Vocabulary {
    words: HashMap<String, usize>,
    /// The skills of each word.
    skills: Vec<Vec<u32>>,
    /// The words of [`MIN_PREFIX_CHARS`] characters or more, a line each, and where each begins.
    text: String,
    lines: Vec<(usize, usize)>,
    /// Finds those words in a text.
    finder: Option<AhoCorasick>,
    keyword_counts: Vec<u32>,
    priorities: Vec<f64>,
}

impl Vocabulary {
    /// Takes the keywords and the priority of each skill, in the order of the index.
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
                vocabulary.add(&normal(keyword), skill);
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
        if keyword.chars().count() >= MIN_PREFIX_CHARS {
            self.lines.push((self.text.len(), word));
            self.text.push_str(keyword);
            self.text.push('\n');
        }
        word
    }

    /// Looks a text up.
    pub(super) fn query(&self, context: &str) -> Query<'_> {
        let mut tokens = tokenize(context);
        tokens.truncate(MAX_QUERY_TOKENS);
        Query { vocabulary: self, fitting: self.fitting(&tokens) }
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
        let long: Vec<&str> = tokens
            .iter()
            .map(String::as_str)
            .filter(|token| token.chars().count() >= MIN_PREFIX_CHARS)
            .collect();
        // The token contains the keyword: both of them long enough.
        if let Some(finder) = &self.finder {
            for found in finder.find_overlapping_iter(&long.join("\n")) {
                if let Some((_, word)) = self.lines.get(found.pattern().as_usize()) {
                    mark(*word);
                }
            }
        }
        // The keyword contains the token.
        let mut mark_line = |at: usize| {
            let line = self.lines.partition_point(|(start, _)| *start <= at);
            if let Some((_, word)) = line.checked_sub(1).and_then(|line| self.lines.get(line)) {
                mark(*word);
            }
        };
        let together = (long.len() > MAX_SEPARATE_LOOKUPS).then(|| AhoCorasick::new(&long).ok()).flatten();
        match together {
            Some(tokens) => {
                tokens.find_overlapping_iter(&self.text).for_each(|found| mark_line(found.start()));
            }
            None => {
                for token in long {
                    memmem::find_iter(self.text.as_bytes(), token).for_each(&mut mark_line);
                }
            }
        }
        fitting
    }
}

impl Query<'_> {
    /// What it comes to.
    pub fn outcome(&self, settings: &MatchSettings) -> Match {
        decide(self.hits(settings.min_score), settings)
    }

    /// Which of those keywords fit.
    pub fn matched<'k>(&self, keywords: &'k [String]) -> Vec<&'k str> {
        let word = |keyword: &str| self.vocabulary.words.get(normal(keyword).as_ref());
        let fits = |keyword: &str| word(keyword).and_then(|word| self.fitting.get(*word)) == Some(&true);
        keywords.iter().map(String::as_str).filter(|keyword| fits(keyword)).collect()
    }

    /// How well that skill fits, by its place in the index; whether or not another fits better.
    pub fn score(&self, skill: usize) -> f64 {
        let hits = self.hits(f64::NEG_INFINITY);
        hits.iter().find(|hit| hit.skill == skill).map_or(0.0, |hit| hit.score)
    }

    /// The skills that fit, best first; equals in the order of the index.
    fn hits(&self, least: f64) -> Vec<Hit> {
        let vocabulary = self.vocabulary;
        let mut counts = vec![0u32; vocabulary.keyword_counts.len()];
        let words = self.fitting.iter().zip(&vocabulary.skills).filter(|(fits, _)| **fits);
        for skill in words.flat_map(|(_, skills)| skills) {
            if let Some(count) = usize::try_from(*skill).ok().and_then(|skill| counts.get_mut(skill)) {
                *count += 1;
            }
        }
        let figures = counts.iter().zip(&vocabulary.keyword_counts).zip(&vocabulary.priorities).enumerate();
        let mut hits: Vec<Hit> = figures
            .filter(|(_, ((count, _), _))| **count > 0)
            .map(|(skill, ((count, keywords), priority))| Hit {
                skill,
                score: f64::from(*count) / f64::from(*keywords) + priority * 0.001,
            })
            .filter(|hit| hit.score >= least)
            .collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.skill.cmp(&other.skill)));
        hits
    }
}

/// A keyword as it is compared.
fn normal(keyword: &str) -> Cow<'_, str> {
    let is_normal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if keyword.bytes().all(is_normal) {
        return Cow::Borrowed(keyword);
    }
    Cow::Owned(keyword.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
}

/// Decides between hits that are in order, best first.
fn decide(mut hits: Vec<Hit>, settings: &MatchSettings) -> Match {
    match hits.as_slice() {
        [] => Match::Nothing,
        [best, second, ..] if best.score - second.score < settings.ambiguity_threshold => {
            hits.truncate(settings.max_results);
            Match::Ambiguous(hits)
        }
        [best, ..] => Match::One(best.clone()),
    }
}
