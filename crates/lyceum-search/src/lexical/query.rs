//! Lexical queries: terms, `"phrases"` and `prefixes*`.

use std::collections::HashMap;

use lyceum_content::language;
use tantivy::{
    DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term,
    collector::{DocSetCollector, FilterCollector, TopDocs},
    columnar::Column,
    query::{
        BooleanQuery, BoostQuery, EnableScoring, FuzzyTermQuery, Occur, PhraseQuery, Query, RegexQuery,
        TermQuery,
    },
    schema::{Field, IndexRecordOption},
    tokenizer::TextAnalyzer,
};

use super::{IndexError, Lexical, analyzer};
use crate::memory::AllowedPages;

/// Maximum number of terms; further ones are ignored.
const MAX_TERMS: usize = 64;

/// Maximum number of phrases: each is searched in every field.
const MAX_PHRASES: usize = 8;

/// Maximum number of prefixes: each may expand to thousands of terms.
const MAX_PREFIXES: usize = 8;

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    /// Distinct terms, in order.
    pub terms: Vec<String>,
    /// Mandatory phrases: terms with their position in the phrase.
    pub phrases: Vec<Vec<(usize, String)>>,
    /// Word prefixes.
    pub prefixes: Vec<String>,
    /// Unstemmed words, for suggestions.
    pub query_words: Vec<QueryWord>,
    /// The language of the query, if it is clear.
    pub language: Option<&'static str>,
}

/// An unstemmed, lower-case word of a query, with its byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryWord {
    pub from: usize,
    pub to: usize,
    pub word: String,
}

/// A page and its BM25 score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LexicalHit {
    pub page: i64,
    pub score: f32,
}

impl ParsedQuery {
    /// Parses a query. Any text is valid: there is no query syntax that could be wrong.
    pub(crate) fn of(text: &str) -> Self {
        let mut parsed = Self::default();
        let mut stemmed = analyzer::analyzer();
        let mut parts = text.split('"').enumerate().peekable();
        while let Some((number, part)) = parts.next() {
            // An unclosed quote is ignored: it may be an inch sign or a typo.
            let is_quoted = number % 2 == 1 && parts.peek().is_some();
            let terms = terms(&mut stemmed, part);
            if is_quoted && !terms.is_empty() && parsed.phrases.len() < MAX_PHRASES {
                parsed.phrases.push(terms.into_iter().take(MAX_TERMS).collect());
            }
            parsed.prefixes.extend(prefixes(part).filter(|_| !is_quoted));
        }
        parsed.terms = stems(&mut stemmed, text);
        parsed.query_words = query_words(text);
        parsed.language = language::of_query(text);
        for (list, limit) in [(&mut parsed.terms, MAX_TERMS), (&mut parsed.prefixes, MAX_PREFIXES)] {
            let mut seen = std::collections::HashSet::new();
            list.retain(|term| seen.insert(term.clone()));
            list.truncate(limit);
        }
        parsed
    }

    /// Whether there is nothing to search for.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.prefixes.is_empty()
    }
}

impl Lexical {
    /// Finds the pages with the highest scores among those allowed.
    pub(crate) fn top_pages(
        &self,
        parsed: &ParsedQuery,
        limit: usize,
        allowed: &AllowedPages,
    ) -> Result<Vec<LexicalHit>, IndexError> {
        if parsed.is_empty() {
            return Ok(Vec::new());
        }
        let searcher = self.reader.searcher();
        let query = self.query(parsed);
        let top = TopDocs::with_limit(limit).order_by_score();
        let hits = match allowed {
            AllowedPages::All => searcher.search(&query, &top)?,
            AllowedPages::Only(_) => {
                let allowed = allowed.clone();
                let filtered =
                    FilterCollector::new("page".to_owned(), move |page: i64| allowed.admits(page), top);
                searcher.search(&query, &filtered)?
            }
        };
        let page_ids = PageIds::of(&searcher)?;
        let ranked = |(score, address)| Some(LexicalHit { page: page_ids.page(address)?, score });
        Ok(hits.into_iter().filter_map(ranked).collect())
    }

    /// Scores these pages; pages without a match are left out.
    pub(crate) fn score(&self, parsed: &ParsedQuery, pages: &[i64]) -> Result<HashMap<i64, f32>, IndexError> {
        let mut scores = HashMap::new();
        if parsed.is_empty() || pages.is_empty() {
            return Ok(scores);
        }
        let searcher = self.reader.searcher();
        let weight = self.query(parsed).weight(EnableScoring::enabled_from_searcher(&searcher))?;
        for segment in searcher.segment_readers() {
            let mut documents = self.documents(segment, pages)?;
            documents.sort_unstable();
            let mut scorer = weight.scorer(segment, 1.0)?;
            for (document, page) in documents {
                if scorer.doc() < document {
                    scorer.seek(document);
                }
                match scorer.doc() {
                    TERMINATED => break,
                    at if at == document => {
                        scores.insert(page, scorer.score());
                    }
                    _ => {}
                }
            }
        }
        Ok(scores)
    }

    /// The sum of the IDFs of the query's terms in the body field, for terms without any match too.
    pub(crate) fn idf_mass(&self, parsed: &ParsedQuery) -> Result<f32, IndexError> {
        let searcher = self.reader.searcher();
        let documents = searcher.num_docs() as f32;
        let mut mass = 0.0;
        for term in &parsed.terms {
            let frequency = searcher.doc_freq(&Term::from_field_text(self.fields.body, term))? as f32;
            mass += (1.0 + ((documents - frequency).max(0.0) + 0.5) / (frequency + 0.5)).ln();
        }
        Ok(mass)
    }

    /// Finds every page that matches.
    pub(crate) fn matching(&self, parsed: &ParsedQuery) -> Result<Vec<i64>, IndexError> {
        if parsed.is_empty() {
            return Ok(Vec::new());
        }
        let searcher = self.reader.searcher();
        let hits = searcher.search(&self.query(parsed), &DocSetCollector)?;
        let page_ids = PageIds::of(&searcher)?;
        Ok(hits.into_iter().filter_map(|address| page_ids.page(address)).collect())
    }

    /// Finds the indexed word nearest to a word by edit distance; `None` if the word itself is indexed.
    pub(crate) fn nearest_word(&self, word: &str) -> Result<Option<String>, IndexError> {
        let searcher = self.reader.searcher();
        let field = self.fields.vocabulary;
        let term = Term::from_field_text(field, word);
        // Short words have too many neighbours for a useful suggestion.
        let distance = match word.chars().count() {
            0..=4 => return Ok(None),
            5..=7 => 1,
            _ => 2,
        };
        if searcher.doc_freq(&term)? > 0 {
            return Ok(None);
        }
        let mut top_pages: Option<(usize, u32, String)> = None;
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(field)?;
            let automaton = FuzzyTermQuery::new(term.clone(), distance, true).automaton()?;
            let mut near =
                inverted.terms().search(automaton).into_stream().map_err(tantivy::TantivyError::from)?;
            while near.advance() {
                let Ok(text) = std::str::from_utf8(near.key()) else { continue };
                let distance_to = strsim::damerau_levenshtein(word, text);
                let count = near.value().doc_freq;
                let is_better = top_pages.as_ref().is_none_or(|(least, limit, _)| {
                    (distance_to, std::cmp::Reverse(count)) < (*least, std::cmp::Reverse(*limit))
                });
                if is_better {
                    top_pages = Some((distance_to, count, text.to_owned()));
                }
            }
        }
        Ok(top_pages.map(|(_, _, text)| text))
    }

    fn query(&self, parsed: &ParsedQuery) -> BooleanQuery {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let fields = self.fields.weighted();
        for (field, weight) in fields {
            for term in &parsed.terms {
                let term = Term::from_field_text(field, term);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push((Occur::Should, boosted(Box::new(query), weight)));
            }
        }
        // Prefixes match unstemmed words: a stem may be shorter than the prefix.
        for prefix in &parsed.prefixes {
            let pattern = format!("{prefix}.*");
            if let Ok(query) = RegexQuery::from_pattern(&pattern, self.fields.vocabulary) {
                clauses.push((Occur::Should, Box::new(query)));
            }
        }
        for phrase in &parsed.phrases {
            let anywhere = fields.iter().map(|(field, weight)| boosted(phrase_in(*field, phrase), *weight));
            clauses.push((Occur::Must, Box::new(BooleanQuery::union(anywhere.collect()))));
        }
        BooleanQuery::new(clauses)
    }

    /// Looks up the documents of pages in a segment.
    fn documents(&self, segment: &SegmentReader, pages: &[i64]) -> Result<Vec<(DocId, i64)>, IndexError> {
        let inverted = segment.inverted_index(self.fields.page)?;
        let mut documents = Vec::new();
        for page in pages {
            let term = Term::from_field_i64(self.fields.page, *page);
            let postings = inverted
                .read_postings(&term, IndexRecordOption::Basic)
                .map_err(tantivy::TantivyError::from)?;
            let Some(mut postings) = postings else { continue };
            while postings.doc() != TERMINATED {
                if !segment.is_deleted(postings.doc()) {
                    documents.push((postings.doc(), *page));
                }
                postings.advance();
            }
        }
        Ok(documents)
    }
}

/// A phrase query in one field; a term query if the phrase has one term.
fn phrase_in(field: Field, phrase: &[(usize, String)]) -> Box<dyn Query> {
    let term = |(offset, term): &(usize, String)| (*offset, Term::from_field_text(field, term));
    match phrase {
        [only] => Box::new(TermQuery::new(term(only).1, IndexRecordOption::WithFreqs)),
        several => Box::new(PhraseQuery::new_with_offset(several.iter().map(term).collect())),
    }
}

fn boosted(query: Box<dyn Query>, weight: f32) -> Box<dyn Query> {
    Box::new(BoostQuery::new(query, weight))
}

/// Page ids by segment. Opening a column costs more than many reads, so it is done once per query.
struct PageIds(Vec<Column<i64>>);

impl PageIds {
    fn of(searcher: &Searcher) -> Result<Self, IndexError> {
        let segments = searcher.segment_readers().iter();
        Ok(Self(segments.map(|segment| segment.fast_fields().i64("page")).collect::<Result<_, _>>()?))
    }

    fn page(&self, address: DocAddress) -> Option<i64> {
        self.0.get(address.segment_ord as usize)?.first(address.doc_id)
    }
}

/// The terms of a text with their positions.
fn terms(analyzer: &mut TextAnalyzer, text: &str) -> Vec<(usize, String)> {
    let mut terms = Vec::new();
    analyzer.token_stream(text).process(&mut |token| terms.push((token.position, token.text.clone())));
    terms
}

/// The terms of a query without stop words, unless it has only stop words.
fn stems(stemmed: &mut TextAnalyzer, text: &str) -> Vec<String> {
    let all = terms(stemmed, text);
    let plain = terms(&mut analyzer::plain(), text);
    let content_terms: Vec<String> = (all.iter().zip(&plain))
        .filter(|(_, (_, word))| !analyzer::is_stop_word(word))
        .map(|((_, term), _)| term.clone())
        .collect();
    if content_terms.is_empty() { all.into_iter().map(|(_, term)| term).collect() } else { content_terms }
}

/// The unstemmed words of a query; only the parts of `camelCase`.
fn query_words(text: &str) -> Vec<QueryWord> {
    let mut all: Vec<QueryWord> = Vec::new();
    analyzer::plain().token_stream(text).process(&mut |token| {
        // The whole word comes right before its parts.
        if all.last().is_some_and(|whole| token.offset_to <= whole.to) {
            all.pop();
        }
        all.push(QueryWord { from: token.offset_from, to: token.offset_to, word: token.text.clone() });
    });
    all
}

/// The prefixes marked with a trailing `*`.
fn prefixes(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_whitespace().filter_map(|word| {
        let prefix: String =
            word.strip_suffix('*')?.rsplit(|c: char| !c.is_alphanumeric()).next()?.to_lowercase();
        (prefix.chars().count() > 1).then_some(prefix)
    })
}
