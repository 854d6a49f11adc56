//! Candidate retrieval: the top pages of lexical and of vector search, each with both scores, fused into one ranking.
//! Blocks.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use lyceum_content::language;
use lyceum_store::{DbError, Tx, pages};

use super::{MAX_CANDIDATES, MAX_RESULTS, Mode, Query, RankedPage, result::Facets, stems::Stems};
use crate::{
    error::Error,
    fuse::{self, Candidate, FusedCandidate},
    lexical::{IndexError, Lexical, ParsedQuery, analyzer::is_stop_word},
    memory::{AllowedPages, Entry, Memory},
    search::OpenIndex,
    vectors::VectorHit,
};

/// Maximum number of query words checked for spelling.
const MAX_CORRECTED_WORDS: usize = 12;

/// The chunk that represents a candidate.
#[derive(Debug, Clone)]
pub(super) struct Passage {
    pub heading: String,
    pub first_line: i64,
    pub last_line: i64,
    pub text: String,
}

/// A candidate with its passage.
#[derive(Debug, Clone)]
pub(super) struct CandidateHit {
    pub entry: Entry,
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
    pub hits: Vec<CandidateHit>,
    pub parsed: ParsedQuery,
    pub degraded: Vec<String>,
    pub suggestion: Option<String>,
    pub facets: Option<Facets>,
    /// The active model is no longer the one that embedded the query, so vector search was skipped.
    pub model_changed: bool,
}

/// Retrieves the candidates of both stages.
pub(super) fn retrieve(
    opened: &OpenIndex,
    query: &Query,
    parsed: &ParsedQuery,
    query_vector: Option<&QueryVector>,
) -> Result<Candidates, Error> {
    let mut candidates = Candidates { parsed: parsed.clone(), ..Candidates::default() };
    let lexical = opened.lexical().filter(|_| query.mode != Mode::Vector);
    if lexical.is_none() && query.mode != Mode::Vector {
        candidates.degraded.push("the lexical index is being rebuilt: vector results only".to_owned());
    }
    let (fused, entries) = {
        let memory = opened.memory();
        let used = memory.active().map(|active| active.model);
        candidates.model_changed = query_vector.is_some_and(|query_vector| Some(query_vector.model) != used);
        let vector =
            query_vector.filter(|_| !candidates.model_changed).map(|query_vector| &*query_vector.vector);
        // An index that is being rebuilt is at position 0 until its first commit.
        if lexical.as_ref().is_some_and(|lexical| lexical.seen().seq == 0) && memory.position.seq > 0 {
            candidates
                .degraded
                .push("the lexical index is being built: some pages are not found yet".to_owned());
        }
        let allowed = memory.allowed(&query.filter);
        // A reranker gets MAX_RESULTS candidates; without one, only the requested results are read.
        let read = if opened.rerank.is_some() { MAX_RESULTS } else { query.limit.clamp(1, MAX_RESULTS) };
        // Lexical search alone only needs the requested results plus a margin: a page may be deleted by now, and ties
        // at the cut-off are broken by page id, not by the engine's document order.
        let depth = if vector.is_some() || query.facets { MAX_CANDIDATES } else { read + MAX_RESULTS };
        let fused =
            rank_candidates(&memory, lexical.as_deref(), parsed, vector, &allowed, depth, &mut candidates);
        if query.facets {
            candidates.facets =
                facets(&memory, lexical.as_deref(), parsed, &allowed, &fused, &mut candidates.degraded);
        }
        let best: Vec<FusedCandidate> = fused.into_iter().take(read).collect();
        let entries: HashMap<i64, Entry> = best
            .iter()
            .filter_map(|one| Some((one.candidate.page, memory.entry(one.candidate.page)?.clone())))
            .collect();
        (best, entries)
    };
    let stems = Stems::of(parsed);
    candidates.hits = opened.db.read_blocking(|tx| {
        let mut hits = Vec::with_capacity(fused.len());
        for (one, passage) in fused.iter().zip(passages(tx, &fused, &stems)?) {
            let Some(entry) = entries.get(&one.candidate.page) else { continue };
            let passage = match passage {
                Some(passage) => passage,
                // A page without a body.
                None if pages::pages(tx, &[entry.id])?.iter().any(Option::is_some) => fallback_passage(entry),
                None => continue,
            };
            hits.push(CandidateHit { entry: entry.clone(), fused: *one, passage, rerank: None });
        }
        Ok::<_, DbError>(hits)
    })?;
    if let Some(lexical) = &lexical {
        candidates.suggestion = suggestion(lexical, parsed, query.text.trim());
    }
    Ok(candidates)
}

/// Ranks the first `depth` candidates, without passages.
pub(super) fn rank(
    opened: &OpenIndex,
    query: &Query,
    parsed: &ParsedQuery,
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
    let fused = rank_candidates(
        &memory,
        lexical.as_deref(),
        parsed,
        vector,
        &allowed,
        MAX_CANDIDATES,
        &mut Candidates::default(),
    );
    let ranked = fused.into_iter().take(depth).filter_map(|one| {
        let entry = memory.entry(one.candidate.page)?;
        Some(RankedPage { source: entry.source.clone(), facts: entry.facts.clone(), score: one.score })
    });
    ranked.collect()
}

/// Retrieves, fuses and smooths candidates, best first. Takes at most `depth` from lexical search.
fn rank_candidates(
    memory: &Memory,
    lexical: Option<&Lexical>,
    parsed: &ParsedQuery,
    vector: Option<&[f32]>,
    allowed: &AllowedPages,
    depth: usize,
    candidates: &mut Candidates,
) -> Vec<FusedCandidate> {
    let mut bm25_scores = HashMap::new();
    if let Some(lexical) = lexical {
        let best = or_degrade(candidates, lexical.top_pages(parsed, depth, allowed));
        bm25_scores.extend(best.unwrap_or_default().into_iter().map(|one| (one.page, one.score)));
    }
    let mut cosines = HashMap::new();
    if let Some(vector) = vector {
        cosines = by_page(memory, &memory.nearest(vector, MAX_CANDIDATES * 4, allowed));
        keep_best(&mut cosines, MAX_CANDIDATES);
        let without: Vec<i64> =
            bm25_scores.keys().filter(|page| !cosines.contains_key(page)).copied().collect();
        cosines.extend(by_page(memory, &memory.cosines(vector, &without)));
        if let Some(lexical) = lexical {
            let without: Vec<i64> =
                cosines.keys().filter(|page| !bm25_scores.contains_key(page)).copied().collect();
            bm25_scores.extend(or_degrade(candidates, lexical.score(parsed, &without)).unwrap_or_default());
        }
    }
    if lexical.is_some() && !parsed.phrases.is_empty() {
        // Quoted phrases are mandatory, however high the cosine.
        cosines.retain(|page, _| bm25_scores.contains_key(page));
    }
    let pages: HashSet<i64> = bm25_scores.keys().chain(cosines.keys()).copied().collect();
    let candidates = pages.iter().filter_map(|page| {
        let entry = memory.entry(*page)?;
        let (bm25, cosine) = (bm25_scores.get(page).copied(), cosines.get(page).copied());
        Some(Candidate { page: *page, kind: entry.facts.kind, bm25, cosine })
    });
    let mut fused = fuse::fuse(candidates);
    if vector.is_some() {
        let best: Vec<i64> = fused.iter().take(fuse::SMOOTHED_PAGES).map(|one| one.candidate.page).collect();
        fuse::smooth(&mut fused, &memory.centroids(&best));
    }
    if let Some(wanted) = parsed.language {
        fuse::prefer_language(&mut fused, |page| {
            let language = memory.entry(page).and_then(|entry| entry.facts.language.as_deref());
            language.is_some_and(|is| !language::matches(wanted, is))
        });
    }
    fused
}

/// Selects the chunk to show of each candidate: the nearest by cosine; if that has no query term although the page
/// matched lexically, the chunk with the most query terms.
fn passages(
    tx: &Tx<'_>,
    fused: &[FusedCandidate],
    stems: &Stems<'_>,
) -> Result<Vec<Option<Passage>>, DbError> {
    let nearest_ids: Vec<i64> = fused.iter().filter_map(|one| Some(one.candidate.cosine?.1)).collect();
    let mut nearest = pages::chunks_by_id(tx, &nearest_ids)?.into_iter();
    let mut chosen: Vec<Option<pages::ChunkRow>> =
        (fused.iter()).map(|one| one.candidate.cosine.and_then(|_| nearest.next().flatten())).collect();
    let is_shown = |candidate: &Candidate, chunk: &Option<pages::ChunkRow>| {
        chunk.as_ref().is_some_and(|chunk| candidate.bm25.is_none() || stems.count(&chunk.text) > 0)
    };
    let open = fused.iter().zip(&mut chosen).filter(|(one, chunk)| !is_shown(&one.candidate, chunk));
    let (pages, open): (Vec<i64>, Vec<&mut Option<pages::ChunkRow>>) =
        open.map(|(one, chunk)| (one.candidate.page, chunk)).unzip();
    // The terms may be in the title or tags only; then the nearest is as good.
    let better = pages::best_chunks(tx, &pages, |text| stems.count(text))?.into_iter().zip(open);
    let better = better.filter_map(|(best, chunk)| {
        let (best, count) = best?;
        (count > 0 || chunk.is_none()).then_some((best, chunk))
    });
    let (best, open): (Vec<i64>, Vec<_>) = better.unzip();
    for (chunk, open) in pages::chunks_by_id(tx, &best)?.into_iter().zip(open) {
        *open = chunk;
    }
    Ok(chosen.into_iter().map(|chunk| chunk.map(Passage::from)).collect())
}

impl From<pages::ChunkRow> for Passage {
    fn from(chunk: pages::ChunkRow) -> Self {
        let pages::ChunkRow { heading, first_line, last_line, text, .. } = chunk;
        Self { heading, first_line, last_line, text }
    }
}

/// The passage of a page without a body: its description or title.
fn fallback_passage(entry: &Entry) -> Passage {
    let facts = &entry.facts;
    let text = if facts.description.is_empty() { &facts.title } else { &facts.description };
    Passage { heading: String::new(), first_line: 1, last_line: 1, text: text.clone() }
}

fn by_page(memory: &Memory, hits: &[VectorHit]) -> HashMap<i64, (f32, i64)> {
    let of_page = |hit: &VectorHit| {
        let entry = memory.entry_at(hit.owner.slot)?;
        Some((entry.id, hit.cosine, hit.owner.chunk))
    };
    fuse::nearest_chunks(hits.iter().filter_map(of_page))
}

/// Keeps only the nearest pages.
fn keep_best(cosines: &mut HashMap<i64, (f32, i64)>, limit: usize) {
    if cosines.len() > limit {
        let mut sorted: Vec<f32> = cosines.values().map(|(cosine, _)| *cosine).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let least = sorted.get(limit - 1).copied().unwrap_or(f32::MIN);
        cosines.retain(|_, (cosine, _)| *cosine >= least);
    }
}

/// The result of lexical search; a failure is logged and degrades the result.
fn or_degrade<T>(candidates: &mut Candidates, outcome: Result<T, IndexError>) -> Option<T> {
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

/// The query with unknown content words replaced by the nearest indexed words, if any.
fn suggestion(lexical: &Lexical, parsed: &ParsedQuery, text: &str) -> Option<String> {
    let mut corrected = String::with_capacity(text.len());
    let mut at = 0;
    let content_words = parsed.query_words.iter().filter(|one| !is_stop_word(&one.word));
    for one in content_words.take(MAX_CORRECTED_WORDS) {
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

/// Counts the matching pages by type, group and so on.
fn facets(
    memory: &Memory,
    lexical: Option<&Lexical>,
    parsed: &ParsedQuery,
    allowed: &AllowedPages,
    fused: &[FusedCandidate],
    degraded: &mut Vec<String>,
) -> Option<Facets> {
    let matching = lexical.filter(|_| !parsed.is_empty()).map(|lexical| lexical.matching(parsed));
    let pages: Vec<i64> = match matching {
        Some(Ok(pages)) => pages.into_iter().filter(|page| allowed.admits(*page)).collect(),
        Some(Err(_)) => {
            degraded.push("facets could not be counted".to_owned());
            return None;
        }
        None => fused.iter().map(|one| one.candidate.page).collect(),
    };
    let mut facets = Facets::default();
    for entry in pages.iter().filter_map(|page| memory.entry(*page)) {
        facets.count(&entry.source, &entry.facts);
    }
    Some(facets)
}
