//! Candidates: the best of words and the best of vectors, each with both scores, in one order. Blocks.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use lyceum_store::{DbError, Tx, pages};

use super::{MAX_CANDIDATES, MAX_RESULTS, Mode, Query, RankedPage, result::Facets, stems::Stems};
use crate::{
    error::Error,
    fuse::{self, Candidate, FusedCandidate},
    lexical::{IndexError, Lexical, ParsedQuery},
    memory::{AllowedPages, Card, Memory},
    search::OpenIndex,
    vectors::VectorHit,
};

/// How many words of a question are perhaps put right: who mistypes more asks with too many.
const MAX_CORRECTED_WORDS: usize = 12;

/// A chunk of a candidate, as it is shown.
#[derive(Debug, Clone)]
pub(super) struct Passage {
    pub heading: String,
    pub first_line: i64,
    pub last_line: i64,
    pub text: String,
}

/// A candidate with the passage that is shown.
#[derive(Debug, Clone)]
pub(super) struct CandidateHit {
    pub card: Card,
    pub fused: FusedCandidate,
    pub passage: Passage,
    pub rerank: Option<f32>,
}

/// The embedding of a query, and its model.
#[derive(Debug, Clone)]
pub(super) struct QueryVector {
    pub model: i64,
    pub vector: Arc<[f32]>,
}

/// The candidates of a query.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub found: Vec<CandidateHit>,
    pub words: ParsedQuery,
    pub degraded: Vec<String>,
    pub suggestion: Option<String>,
    pub facets: Option<Facets>,
    /// Another model than that of the question was in use by then: its vectors were not asked.
    pub is_exchanged: bool,
}

/// Retrieves the candidates of both stages.
pub(super) fn retrieve(
    opened: &OpenIndex,
    query: &Query,
    words: &ParsedQuery,
    query_vector: Option<&QueryVector>,
) -> Result<Candidates, Error> {
    let mut candidates = Candidates { words: words.clone(), ..Candidates::default() };
    let lexical = opened.lexical().filter(|_| query.mode != Mode::Vector);
    if lexical.is_none() && query.mode != Mode::Vector {
        candidates.degraded.push("the lexical index is being rebuilt: vector results only".to_owned());
    }
    let (fused, cards) = {
        let memory = opened.memory();
        let used = memory.active().map(|active| active.model);
        candidates.is_exchanged = query_vector.is_some_and(|query_vector| Some(query_vector.model) != used);
        let vector =
            query_vector.filter(|_| !candidates.is_exchanged).map(|query_vector| &*query_vector.vector);
        // An index that is being rebuilt has seen no event before its first commit.
        if lexical.as_ref().is_some_and(|lexical| lexical.seen() == 0) && memory.seq > 0 {
            candidates
                .degraded
                .push("the lexical index is being built: some pages are not found yet".to_owned());
        }
        let allowed = memory.allowed(&query.filter);
        // A reranker sees as many as there may be results; without one, only what is shown is read.
        let read = if opened.rerank.is_some() { MAX_RESULTS } else { query.limit.clamp(1, MAX_RESULTS) };
        // By words alone the best are enough, and some more: a page may be gone by now, and of equals at the end of what is
        // shown the one that came first is to be shown, not the one that the engine took first.
        let depth = if vector.is_some() || query.facets { MAX_CANDIDATES } else { read + MAX_RESULTS };
        let fused = order(&memory, lexical.as_deref(), words, vector, &allowed, depth, &mut candidates);
        if query.facets {
            candidates.facets =
                facets(&memory, lexical.as_deref(), words, &allowed, &fused, &mut candidates.degraded);
        }
        let best: Vec<FusedCandidate> = fused.into_iter().take(read).collect();
        let cards: HashMap<i64, Card> = best
            .iter()
            .filter_map(|one| Some((one.candidate.page, memory.card(one.candidate.page)?.clone())))
            .collect();
        (best, cards)
    };
    let stems = Stems::of(words);
    candidates.found = opened.db.read_here(|tx| {
        let mut found = Vec::with_capacity(fused.len());
        for one in fused {
            let Some(card) = cards.get(&one.candidate.page) else { continue };
            let passage = passage(tx, &one.candidate, &stems)?;
            let passage = match passage {
                Some(passage) => passage,
                None if pages::page(tx, card.id)?.is_some() => without_text(card),
                None => continue,
            };
            found.push(CandidateHit { card: card.clone(), fused: one, passage, rerank: None });
        }
        Ok::<_, DbError>(found)
    })?;
    if let Some(lexical) = &lexical {
        candidates.suggestion = suggestion(lexical, words, query.text.trim());
    }
    Ok(candidates)
}

/// The first so many candidates in their order, with nothing to show.
pub(super) fn rank(
    opened: &OpenIndex,
    query: &Query,
    words: &ParsedQuery,
    query_vector: Option<&QueryVector>,
    depth: usize,
) -> Vec<RankedPage> {
    let lexical = opened.lexical().filter(|_| query.mode != Mode::Vector);
    let memory = opened.memory();
    let used = memory.active().map(|active| active.model);
    let vector = query_vector
        .filter(|query_vector| Some(query_vector.model) == used)
        .map(|query_vector| &*query_vector.vector);
    let allowed = memory.allowed(&query.filter);
    let fused = order(
        &memory,
        lexical.as_deref(),
        words,
        vector,
        &allowed,
        MAX_CANDIDATES,
        &mut Candidates::default(),
    );
    let ranked = fused.into_iter().take(depth).filter_map(|one| {
        let card = memory.card(one.candidate.page)?;
        Some(RankedPage { source: card.source.clone(), facts: card.facts.clone(), score: one.score })
    });
    ranked.collect()
}

/// Every candidate, the best first. Of those that words find, so many are candidates at.
fn order(
    memory: &Memory,
    lexical: Option<&Lexical>,
    words: &ParsedQuery,
    vector: Option<&[f32]>,
    allowed: &AllowedPages,
    depth: usize,
    candidates: &mut Candidates,
) -> Vec<FusedCandidate> {
    let mut by_words = HashMap::new();
    if let Some(lexical) = lexical {
        let best = attempt(candidates, lexical.best(words, depth, allowed));
        by_words.extend(best.unwrap_or_default().into_iter().map(|one| (one.page, one.score)));
    }
    let mut near = HashMap::new();
    if let Some(vector) = vector {
        near = by_page(memory, &memory.nearest(vector, MAX_CANDIDATES * 4, allowed));
        keep_best(&mut near, MAX_CANDIDATES);
        let without: Vec<i64> = by_words.keys().filter(|page| !near.contains_key(page)).copied().collect();
        near.extend(by_page(memory, &memory.near(vector, &without)));
        if let Some(lexical) = lexical {
            let without: Vec<i64> =
                near.keys().filter(|page| !by_words.contains_key(page)).copied().collect();
            by_words.extend(attempt(candidates, lexical.score(words, &without)).unwrap_or_default());
        }
    }
    if lexical.is_some() && !words.phrases.is_empty() {
        // What is quoted must be there, however near a page is otherwise.
        near.retain(|page, _| by_words.contains_key(page));
    }
    let pages: HashSet<i64> = by_words.keys().chain(near.keys()).copied().collect();
    let candidates = pages.iter().filter_map(|page| {
        let card = memory.card(*page)?;
        let (bm25, cosine) = (by_words.get(page).copied(), near.get(page).copied());
        Some(Candidate { page: *page, kind: card.facts.kind, bm25, cosine })
    });
    let mut fused = fuse::fuse(candidates);
    if vector.is_some() {
        let best: Vec<i64> = fused.iter().take(fuse::SMOOTHED_PAGES).map(|one| one.candidate.page).collect();
        fuse::smooth(&mut fused, &memory.centroids(&best));
    }
    fused
}

/// The chunk of a candidate that is shown: the nearest, unless it has none of the words that the page was found by; then
/// the one with the most of them.
fn passage(tx: &Tx<'_>, candidate: &Candidate, stems: &Stems<'_>) -> Result<Option<Passage>, DbError> {
    let nearest = match candidate.cosine {
        Some((_, chunk)) => pages::chunk(tx, chunk)?,
        None => None,
    };
    let is_shown = |chunk: &pages::ChunkRow| candidate.bm25.is_none() || stems.count(&chunk.text) > 0;
    let chosen = match nearest {
        Some(chunk) if is_shown(&chunk) => Some(chunk),
        nearest => {
            // Words may also stand in the title or in tags only.
            let best = pages::best_chunk(tx, candidate.page, |text| stems.count(text))?;
            match (best, nearest) {
                (Some((_, 0)), Some(nearest)) => Some(nearest),
                (Some((best, _)), _) => pages::chunk(tx, best)?,
                (None, nearest) => nearest,
            }
        }
    };
    Ok(chosen.map(|chunk| {
        let pages::ChunkRow { heading, first_line, last_line, text, .. } = chunk;
        Passage { heading, first_line, last_line, text }
    }))
}

/// What is shown of a page that has no text of its own.
fn without_text(card: &Card) -> Passage {
    let facts = &card.facts;
    let text = if facts.description.is_empty() { &facts.title } else { &facts.description };
    Passage { heading: String::new(), first_line: 1, last_line: 1, text: text.clone() }
}

fn by_page(memory: &Memory, near: &[VectorHit]) -> HashMap<i64, (f32, i64)> {
    let of_page = |near: &VectorHit| {
        let card = memory.card_in(near.owner.slot)?;
        Some((card.id, near.cosine, near.owner.chunk))
    };
    fuse::nearest_chunks(near.iter().filter_map(of_page))
}

/// Leaves the nearest pages only.
fn keep_best(near: &mut HashMap<i64, (f32, i64)>, most: usize) {
    if near.len() > most {
        let mut cosines: Vec<f32> = near.values().map(|(cosine, _)| *cosine).collect();
        cosines.sort_by(|a, b| b.total_cmp(a));
        let least = cosines.get(most - 1).copied().unwrap_or(f32::MIN);
        near.retain(|_, (cosine, _)| *cosine >= least);
    }
}

/// What the words stage says, or that it failed.
fn attempt<T>(candidates: &mut Candidates, outcome: Result<T, IndexError>) -> Option<T> {
    outcome
        .inspect_err(|error| {
            tracing::warn!(error.cause = %error, "lexical search failed");
            let reason = "lexical search failed: vector results only".to_owned();
            if !candidates.degraded.contains(&reason) {
                candidates.degraded.push(reason);
            }
        })
        .ok()
}

/// The question with the words that no page has put right, if there are such.
fn suggestion(lexical: &Lexical, words: &ParsedQuery, text: &str) -> Option<String> {
    let mut corrected = String::with_capacity(text.len());
    let mut at = 0;
    for one in words.written.iter().take(MAX_CORRECTED_WORDS) {
        if let Ok(Some(nearest)) = lexical.nearest_word(&one.word) {
            corrected.push_str(text.get(at..one.from)?);
            corrected.push_str(&nearest);
            at = one.to;
        }
    }
    if at == 0 {
        return None;
    }
    corrected.push_str(text.get(at..)?);
    Some(corrected)
}

/// How many pages that share words with the question there are of each type, group and so on.
fn facets(
    memory: &Memory,
    lexical: Option<&Lexical>,
    words: &ParsedQuery,
    allowed: &AllowedPages,
    fused: &[FusedCandidate],
    degraded: &mut Vec<String>,
) -> Option<Facets> {
    let matching = lexical.filter(|_| !words.is_empty()).map(|lexical| lexical.matching(words));
    let pages: Vec<i64> = match matching {
        Some(Ok(pages)) => pages.into_iter().filter(|page| allowed.admits(*page)).collect(),
        Some(Err(_)) => {
            degraded.push("facets could not be counted".to_owned());
            return None;
        }
        None => fused.iter().map(|one| one.candidate.page).collect(),
    };
    let mut facets = Facets::default();
    for card in pages.iter().filter_map(|page| memory.card(*page)) {
        facets.count(&card.source, &card.facts);
    }
    Some(facets)
}
