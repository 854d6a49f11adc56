//! Skill routing: finds the skill for a task by keywords. Deterministic, without a model.
//!
//! The keywords of all skills form one vocabulary that is searched once per query, so the time grows with the size of
//! the vocabulary, not with skills × tokens.

use std::{borrow::Cow, collections::HashMap};

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::{MatchSettings, tokens::tokenize};

/// Maximum number of distinct tokens of a query.
const MAX_QUERY_TOKENS: usize = 200;

/// Tokens and keywords shorter than this match only if equal: `go` does not match `golang`.
const MIN_SUBSTRING_CHARS: usize = 3;

/// Up to this many tokens are searched one by one; more use one Aho-Corasick automaton.
const MAX_SEPARATE_LOOKUPS: usize = 16;

/// A matching skill with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The skill, by position in the index.
    pub skill: usize,
    /// Share of its keywords that match, plus 0.001 × priority.
    pub score: f64,
}

/// Outcome of skill routing.
#[derive(Debug, Clone, PartialEq)]
pub enum Match {
    /// No skill matches.
    Nothing,
    /// The best scores are too close; the best hits, best first.
    Ambiguous(Vec<Hit>),
    /// One skill matches best.
    One(Hit),
}

/// A query with the keywords that it matches, computed once for all methods.
#[derive(Debug)]
pub struct Query<'a> {
    vocabulary: &'a Vocabulary,
    /// For each keyword of the vocabulary, whether it matches.
    matched: Vec<bool>,
}

/// Every keyword of every skill.
#[derive(Debug)]
pub(super) struct Vocabulary {
    words: HashMap<String, usize>,
    /// The skills of each keyword.
    skills: Vec<Vec<u32>>,
    /// The keywords of at least [`MIN_SUBSTRING_CHARS`] characters, one per line, and where each line starts.
    text: String,
    lines: Vec<(usize, usize)>,
    /// Finds those keywords in a text.
    finder: Option<AhoCorasick>,
    keyword_counts: Vec<u32>,
    priorities: Vec<f64>,
}

impl Vocabulary {
    /// Builds the vocabulary from the keywords and priority of each skill, in index order.
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
                vocabulary.add(&normalize(keyword), skill);
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
        if keyword.chars().count() >= MIN_SUBSTRING_CHARS {
            self.lines.push((self.text.len(), word));
            self.text.push_str(keyword);
            self.text.push('\n');
        }
        word
    }

    /// Tokenizes a text and matches it against the vocabulary.
    pub(super) fn query(&self, context: &str) -> Query<'_> {
        let mut tokens = tokenize(context);
        tokens.truncate(MAX_QUERY_TOKENS);
        Query { vocabulary: self, matched: self.matched(&tokens) }
    }

    /// For each keyword of the vocabulary, whether some token matches it.
    fn matched(&self, tokens: &[String]) -> Vec<bool> {
        let mut matched = vec![false; self.skills.len()];
        let mut mark = |word: usize| {
            if let Some(matches) = matched.get_mut(word) {
                *matches = true;
            }
        };
        tokens.iter().filter_map(|token| self.words.get(token)).for_each(|word| mark(*word));
        let long: Vec<&str> = tokens
            .iter()
            .map(String::as_str)
            .filter(|token| token.chars().count() >= MIN_SUBSTRING_CHARS)
            .collect();
        // The token contains the keyword; both are long enough.
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
        matched
    }
}

impl Query<'_> {
    /// The outcome of skill routing.
    pub fn outcome(&self, settings: &MatchSettings) -> Match {
        decide(self.hits(settings.min_score), settings)
    }

    /// The keywords that match.
    pub fn matched<'k>(&self, keywords: &'k [String]) -> Vec<&'k str> {
        let word = |keyword: &str| self.vocabulary.words.get(normalize(keyword).as_ref());
        let matches = |keyword: &str| word(keyword).and_then(|word| self.matched.get(*word)) == Some(&true);
        keywords.iter().map(String::as_str).filter(|keyword| matches(keyword)).collect()
    }

    /// Score of one skill, by position in the index, whether or not another scores higher.
    pub fn score(&self, skill: usize) -> f64 {
        let hits = self.hits(f64::NEG_INFINITY);
        hits.iter().find(|hit| hit.skill == skill).map_or(0.0, |hit| hit.score)
    }

    /// The matching skills, best first; ties in index order.
    fn hits(&self, min_score: f64) -> Vec<Hit> {
        let vocabulary = self.vocabulary;
        let mut counts = vec![0u32; vocabulary.keyword_counts.len()];
        let words = self.matched.iter().zip(&vocabulary.skills).filter(|(matches, _)| **matches);
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
            .filter(|hit| hit.score >= min_score)
            .collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.skill.cmp(&other.skill)));
        hits
    }
}

/// Normalizes a keyword for comparison.
fn normalize(keyword: &str) -> Cow<'_, str> {
    let is_normal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if keyword.bytes().all(is_normal) {
        return Cow::Borrowed(keyword);
    }
    Cow::Owned(keyword.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
}

/// Decides between hits, which are sorted best first.
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
