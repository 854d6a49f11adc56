//! BM25 in memory, normalized to the share of the task that a skill covers.

use std::{collections::HashSet, sync::Arc};

use lyceum_search::terms;

use super::text::{SkillText, stem_hash};

/// Saturation of term weights, and how much long texts are discounted.
const K1: f32 = 1.2;
const B: f32 = 0.7;

/// Rare words count more than BM25 says: a task names its subject in one or two words.
const IDF_EXPONENT: f32 = 1.5;

/// Skills that other sets would have: in a set of two, a word of one skill is no less telling.
const BACKGROUND_SKILLS: f32 = 200.0;

/// Stems of words that tasks of every kind have, and their share of the usual weight.
const GENERIC: &str = "use user skill want need help make get give put ask add new file code project write creat work \
    thing way chang run set start someon peopl pleas let tri team good best one two all edit open read show find check \
    fix updat build";
const GENERIC_SHARE: f32 = 0.3;

/// Words of a task that count towards its total: a long task is not covered by any skill to the last word.
const MAX_COVERED_WORDS: usize = 7;

/// Maximum number of distinct words of a task.
const MAX_WORDS: usize = 200;

/// The postings of all texts.
#[derive(Debug)]
pub(super) struct Bm25 {
    /// Sorted by stem.
    postings: Vec<Posting>,
    /// `K1 × (1 - B + B × length / mean length)` of each text.
    saturation: Vec<f32>,
}

#[derive(Debug)]
struct Posting {
    stem: u64,
    text: u32,
    weight: f32,
}

impl Bm25 {
    pub(super) fn new(texts: &[Arc<SkillText>]) -> Self {
        let mean = texts.iter().map(|text| text.length).sum::<f32>() / (texts.len().max(1) as f32);
        let saturation = |text: &Arc<SkillText>| K1 * (1.0 - B + B * text.length / mean.max(f32::EPSILON));
        let mut postings: Vec<Posting> = (0u32..)
            .zip(texts)
            .flat_map(|(text, one)| {
                one.weights.iter().map(move |(stem, weight)| Posting { stem: *stem, text, weight: *weight })
            })
            .collect();
        postings.sort_unstable_by_key(|posting| posting.stem);
        Self { postings, saturation: texts.iter().map(saturation).collect() }
    }

    /// For each text, the share of the task's words that it has, weighted by rarity; from 0 to 1.
    pub(super) fn coverage(&self, task: &str) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.saturation.len()];
        let mut seen = HashSet::new();
        let mut idfs = Vec::new();
        for term in terms(task) {
            let stem = stem_hash(&term.stem);
            if seen.len() >= MAX_WORDS || !seen.insert(stem) {
                continue;
            }
            let postings = self.postings_of(stem);
            let idf = self.idf(postings.len()) * if is_generic(&term.stem) { GENERIC_SHARE } else { 1.0 };
            idfs.push(idf);
            for Posting { text, weight, .. } in postings {
                let at = usize::try_from(*text).unwrap_or(usize::MAX);
                if let (Some(score), Some(saturation)) = (scores.get_mut(at), self.saturation.get(at)) {
                    *score += idf * weight / (weight + saturation);
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
        let start = self.postings.partition_point(|posting| posting.stem < stem);
        let rest = self.postings.get(start..).unwrap_or_default();
        let end = rest.partition_point(|posting| posting.stem == stem);
        rest.get(..end).unwrap_or_default()
    }

    /// Rarity of a word. One that no skill has counts like one that a single skill has.
    fn idf(&self, texts_with_it: usize) -> f32 {
        let (all, with) = (self.saturation.len() as f32 + BACKGROUND_SKILLS, texts_with_it.max(1) as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln().powf(IDF_EXPONENT)
    }
}

fn is_generic(stem: &str) -> bool {
    use std::sync::LazyLock;
    static STEMS: LazyLock<HashSet<&str>> = LazyLock::new(|| GENERIC.split_whitespace().collect());
    STEMS.contains(stem)
}
