//! BM25 in memory, normalized to the share of the task that a skill covers.

use std::sync::Arc;

use super::{Task, text::SkillText};

/// Saturation of term weights, and how much long texts are discounted.
const K1: f32 = 1.2;
const B: f32 = 0.7;

/// Rare words count more than BM25 says: a task names its subject in one or two words.
const IDF_EXPONENT: f32 = 1.5;

/// Skills that other sets would have: in a set of two, a word of one skill is no less telling.
const BACKGROUND_SKILLS: f32 = 200.0;

/// Share of the usual weight for words that tasks of every kind have.
const GENERIC_SHARE: f32 = 0.3;

/// Words of a task that count towards its total: a long task is not covered by any skill to the last word.
const MAX_COVERED_WORDS: usize = 7;

/// Maximum number of distinct words of a task.
const MAX_WORDS: usize = 200;

/// The postings of all texts.
#[derive(Debug)]
pub(super) struct Bm25 {
    texts: usize,
    /// Hashes of the stems, sorted, each with the end of its postings; they start where those of the stem before end.
    stems: Vec<(u64, usize)>,
    postings: Vec<Posting>,
}

/// A text that has a stem.
#[derive(Debug)]
struct Posting {
    text: u32,
    /// The saturated weight of the stem in the text, from 0 to 1.
    weight: f32,
}

impl Bm25 {
    pub(super) fn new(texts: &[Arc<SkillText>]) -> Self {
        let mean = texts.iter().map(|text| text.length).sum::<f32>() / (texts.len().max(1) as f32);
        let saturation = |length: f32| K1 * (1.0 - B + B * length / mean.max(f32::EPSILON));
        let mut all: Vec<(u64, Posting)> = (0u32..)
            .zip(texts)
            .flat_map(|(text, one)| {
                let saturation = saturation(one.length);
                one.stems.iter().map(move |stem| {
                    (stem.hash, Posting { text, weight: stem.weight / (stem.weight + saturation) })
                })
            })
            .collect();
        all.sort_unstable_by_key(|(stem, _)| *stem);
        let mut stems: Vec<(u64, usize)> = Vec::new();
        let mut postings = Vec::with_capacity(all.len());
        for (stem, posting) in all {
            postings.push(posting);
            match stems.last_mut().filter(|(last, _)| *last == stem) {
                Some((_, end)) => *end = postings.len(),
                None => stems.push((stem, postings.len())),
            }
        }
        Self { texts: texts.len(), stems, postings }
    }

    /// For each text, the share of the task's words that it has, weighted by rarity; from 0 to 1.
    pub(super) fn coverage(&self, task: &Task<'_>) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.texts];
        let mut idfs = Vec::new();
        for word in task.distinct_words().take(MAX_WORDS) {
            let postings = self.postings_of(word.stem);
            let idf = self.idf(postings.len()) * if word.is_generic { GENERIC_SHARE } else { 1.0 };
            idfs.push(idf);
            for Posting { text, weight } in postings {
                if let Some(score) = scores.get_mut(*text as usize) {
                    *score += idf * weight;
                }
            }
        }
        idfs.sort_by(|one, other| other.total_cmp(one));
        let total: f32 = idfs.iter().take(MAX_COVERED_WORDS).sum();
        if total > 0.0 {
            scores.iter_mut().for_each(|score| *score = (*score / total).min(1.0));
        }
        scores
    }

    fn postings_of(&self, stem: u64) -> &[Posting] {
        let Ok(at) = self.stems.binary_search_by_key(&stem, |(stem, _)| *stem) else { return &[] };
        let end_of = |at: usize| self.stems.get(at).map_or(0, |(_, end)| *end);
        let start = at.checked_sub(1).map_or(0, end_of);
        self.postings.get(start..end_of(at)).unwrap_or_default()
    }

    /// Rarity of a word. One that no skill has counts like one that a single skill has.
    fn idf(&self, texts_with_it: usize) -> f32 {
        let (all, with) = (self.texts as f32 + BACKGROUND_SKILLS, texts_with_it.max(1) as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln().powf(IDF_EXPONENT)
    }
}
