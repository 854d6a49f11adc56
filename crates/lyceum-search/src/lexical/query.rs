//! A question to the index by words: words, `"phrases"` and `beginnings*`.

use std::collections::HashMap;

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

/// How many words of a question count; what comes after them says little that is new.
const MAX_TERMS: usize = 64;

/// How many phrases count: each is looked for in every field.
const MAX_PHRASES: usize = 8;

/// How many beginnings of words count: each may stand for thousands of words.
const MAX_PREFIXES: usize = 8;

/// A question, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    /// The terms of it, in order, without repetition.
    pub terms: Vec<String>,
    /// What must be there, side by side: terms, each with its place in the phrase.
    pub phrases: Vec<Vec<(usize, String)>>,
    /// What words may begin with.
    pub prefixes: Vec<String>,
    /// The words as they were written.
    pub written: Vec<QueryWord>,
}

/// A word of a question as it was written, in lower case, and from and to which byte it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryWord {
    pub from: usize,
    pub to: usize,
    pub word: String,
}

/// A page and what its words are worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LexicalHit {
    pub page: i64,
    pub score: f32,
}

impl ParsedQuery {
    /// Takes a question apart. Whatever it holds, it is words: there is no language that could be wrong.
    pub(crate) fn of(question: &str) -> Self {
        let mut words = Self::default();
        let mut stemmed = analyzer::analyzer();
        let mut parts = question.split('"').enumerate().peekable();
        while let Some((number, part)) = parts.next() {
            // A quote that is not closed is an inch or a slip.
            let is_quoted = number % 2 == 1 && parts.peek().is_some();
            let terms = terms(&mut stemmed, part);
            if is_quoted && !terms.is_empty() && words.phrases.len() < MAX_PHRASES {
                words.phrases.push(terms.into_iter().take(MAX_TERMS).collect());
            }
            words.prefixes.extend(prefixes(part).filter(|_| !is_quoted));
        }
        words.terms = stems(&mut stemmed, question);
        words.written = written(question);
        for (list, most) in [(&mut words.terms, MAX_TERMS), (&mut words.prefixes, MAX_PREFIXES)] {
            let mut seen = std::collections::HashSet::new();
            list.retain(|term| seen.insert(term.clone()));
            list.truncate(most);
        }
        words
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.prefixes.is_empty()
    }
}

impl Lexical {
    /// The best pages, those only that may be found.
    pub(crate) fn best(
        &self,
        words: &ParsedQuery,
        most: usize,
        allowed: &AllowedPages,
    ) -> Result<Vec<LexicalHit>, IndexError> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let searcher = self.reader.searcher();
        let query = self.query(words);
        let top = TopDocs::with_limit(most).order_by_score();
        let found = match allowed {
            AllowedPages::All => searcher.search(&query, &top)?,
            AllowedPages::Only(_) => {
                let allowed = allowed.clone();
                let filtered =
                    FilterCollector::new("page".to_owned(), move |page: i64| allowed.admits(page), top);
                searcher.search(&query, &filtered)?
            }
        };
        let numbers = Numbers::of(&searcher)?;
        let ranked = |(score, address)| Some(LexicalHit { page: numbers.page(address)?, score });
        Ok(found.into_iter().filter_map(ranked).collect())
    }

    /// What the words are worth for these pages; pages without any of them are left out.
    pub(crate) fn score(&self, words: &ParsedQuery, pages: &[i64]) -> Result<HashMap<i64, f32>, IndexError> {
        let mut scores = HashMap::new();
        if words.is_empty() || pages.is_empty() {
            return Ok(scores);
        }
        let searcher = self.reader.searcher();
        let weight = self.query(words).weight(EnableScoring::enabled_from_searcher(&searcher))?;
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

    /// Every page that has any of the words.
    pub(crate) fn matching(&self, words: &ParsedQuery) -> Result<Vec<i64>, IndexError> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let searcher = self.reader.searcher();
        let found = searcher.search(&self.query(words), &DocSetCollector)?;
        let numbers = Numbers::of(&searcher)?;
        Ok(found.into_iter().filter_map(|address| numbers.page(address)).collect())
    }

    /// The word of the pages that is nearest to one that no page has; nothing for a word that one has.
    pub(crate) fn nearest_word(&self, word: &str) -> Result<Option<String>, IndexError> {
        let searcher = self.reader.searcher();
        let field = self.fields.vocabulary;
        let term = Term::from_field_text(field, word);
        // Short words have too many neighbours to mean one of them.
        let distance = match word.chars().count() {
            0..=3 => return Ok(None),
            4..=7 => 1,
            _ => 2,
        };
        if searcher.doc_freq(&term)? > 0 {
            return Ok(None);
        }
        let mut best: Option<(usize, u32, String)> = None;
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(field)?;
            let automaton = FuzzyTermQuery::new(term.clone(), distance, true).automaton()?;
            let mut near =
                inverted.terms().search(automaton).into_stream().map_err(tantivy::TantivyError::from)?;
            while near.advance() {
                let Ok(text) = std::str::from_utf8(near.key()) else { continue };
                let away = strsim::damerau_levenshtein(word, text);
                let count = near.value().doc_freq;
                let is_better = best.as_ref().is_none_or(|(least, most, _)| {
                    (away, std::cmp::Reverse(count)) < (*least, std::cmp::Reverse(*most))
                });
                if is_better {
                    best = Some((away, count, text.to_owned()));
                }
            }
        }
        Ok(best.map(|(_, _, text)| text))
    }

    fn query(&self, words: &ParsedQuery) -> BooleanQuery {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let fields = self.fields.weighted();
        for (field, weight) in fields {
            for term in &words.terms {
                let term = Term::from_field_text(field, term);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push((Occur::Should, boosted(Box::new(query), weight)));
            }
        }
        // How a word begins is asked of words as they are written: a stem may be shorter than the beginning.
        for beginning in &words.prefixes {
            let pattern = format!("{beginning}.*");
            if let Ok(query) = RegexQuery::from_pattern(&pattern, self.fields.vocabulary) {
                clauses.push((Occur::Should, Box::new(query)));
            }
        }
        for phrase in &words.phrases {
            let anywhere = fields.iter().map(|(field, weight)| boosted(phrase_in(*field, phrase), *weight));
            clauses.push((Occur::Must, Box::new(BooleanQuery::union(anywhere.collect()))));
        }
        BooleanQuery::new(clauses)
    }

    /// The documents of pages in a segment.
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

/// Terms side by side in a field; a phrase needs two.
fn phrase_in(field: Field, phrase: &[(usize, String)]) -> Box<dyn Query> {
    let term = |(place, term): &(usize, String)| (*place, Term::from_field_text(field, term));
    match phrase {
        [only] => Box::new(TermQuery::new(term(only).1, IndexRecordOption::WithFreqs)),
        several => Box::new(PhraseQuery::new_with_offset(several.iter().map(term).collect())),
    }
}

fn boosted(query: Box<dyn Query>, weight: f32) -> Box<dyn Query> {
    Box::new(BoostQuery::new(query, weight))
}

/// The numbers of the pages, by segment; to open those of one takes longer than to read many.
struct Numbers(Vec<Column<i64>>);

impl Numbers {
    fn of(searcher: &Searcher) -> Result<Self, IndexError> {
        let segments = searcher.segment_readers().iter();
        Ok(Self(segments.map(|segment| segment.fast_fields().i64("page")).collect::<Result<_, _>>()?))
    }

    fn page(&self, address: DocAddress) -> Option<i64> {
        self.0.get(address.segment_ord as usize)?.first(address.doc_id)
    }
}

/// The terms of a text, each with its place among the words.
fn terms(analyzer: &mut TextAnalyzer, text: &str) -> Vec<(usize, String)> {
    let mut terms = Vec::new();
    analyzer.token_stream(text).process(&mut |token| terms.push((token.position, token.text.clone())));
    terms
}

/// The terms of a question, without those of words that every text has, unless it has no others.
fn stems(stemmed: &mut TextAnalyzer, question: &str) -> Vec<String> {
    let all = terms(stemmed, question);
    let plain = terms(&mut analyzer::plain(), question);
    let telling: Vec<String> = (all.iter().zip(&plain))
        .filter(|(_, (_, word))| !analyzer::is_common(word))
        .map(|((_, term), _)| term.clone())
        .collect();
    if telling.is_empty() { all.into_iter().map(|(_, term)| term).collect() } else { telling }
}

/// The words of a question; of `camelCase` its parts only.
fn written(question: &str) -> Vec<QueryWord> {
    let mut all: Vec<QueryWord> = Vec::new();
    analyzer::plain().token_stream(question).process(&mut |token| {
        // The whole of a word comes right before its parts.
        if all.last().is_some_and(|whole| token.offset_to <= whole.to) {
            all.pop();
        }
        all.push(QueryWord { from: token.offset_from, to: token.offset_to, word: token.text.clone() });
    });
    all
}

/// What stands before a `*` at the end of a word.
fn prefixes(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_whitespace().filter_map(|word| {
        let beginning: String =
            word.strip_suffix('*')?.rsplit(|c: char| !c.is_alphanumeric()).next()?.to_lowercase();
        (beginning.chars().count() > 1).then_some(beginning)
    })
}
