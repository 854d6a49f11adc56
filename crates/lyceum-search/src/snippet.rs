//! Snippets: an excerpt of a chunk with the query terms highlighted. Pure.

use std::collections::HashMap;

use crate::{
    lexical::{ParsedQuery, analyzer::analyzer_for},
    page::Kind,
};

/// Maximum length of a snippet, in bytes, without the highlight markers.
const MAX_SNIPPET_BYTES: usize = 320;

/// Highlight markers around a query term.
const MARK_OPEN: &str = "**";
const MARK_CLOSE: &str = "**";

/// A query term in the text.
#[derive(Debug, Clone, Copy)]
struct Highlight {
    from: usize,
    to: usize,
    term: usize,
}

/// Extracts the part of a text with the most distinct query terms, and highlights them. Bold markers of prose are
/// removed, because they look the same as highlights.
pub(crate) fn snippet(kind: Kind, text: &str, parsed: &ParsedQuery) -> String {
    let push = |out: &mut String, text: &str| match kind {
        Kind::Prose => text.split(MARK_OPEN).for_each(|part| push_flat(out, part)),
        Kind::Code => push_flat(out, text),
    };
    let highlights = highlights(text, parsed);
    let (from, to) = window(text, &highlights);
    let mut out = String::with_capacity(MAX_SNIPPET_BYTES + 64);
    if from > 0 {
        out.push_str("… ");
    }
    let mut at = from;
    for highlight in highlights.iter().filter(|highlight| highlight.from >= from && highlight.to <= to) {
        if highlight.from < at {
            continue;
        }
        push(&mut out, text.get(at..highlight.from).unwrap_or_default());
        out.push_str(MARK_OPEN);
        out.push_str(text.get(highlight.from..highlight.to).unwrap_or_default());
        out.push_str(MARK_CLOSE);
        at = highlight.to;
    }
    push(&mut out, text.get(at..to).unwrap_or_default());
    if to < text.len() {
        out.push_str(" …");
    }
    out.trim().to_owned()
}

fn highlights(text: &str, parsed: &ParsedQuery) -> Vec<Highlight> {
    let mut highlights: Vec<Highlight> = Vec::new();
    if parsed.is_empty() {
        return highlights;
    }
    let ParsedQuery { terms, prefixes, .. } = parsed;
    analyzer_for(terms.iter().chain(prefixes)).token_stream(text).process(&mut |token| {
        let word = text.get(token.offset_from..token.offset_to).unwrap_or_default();
        let prefix = || prefixes.iter().position(|start| word.to_lowercase().starts_with(start.as_str()));
        let term = terms.iter().position(|term| *term == token.text);
        if let Some(term) = term.or_else(|| Some(terms.len() + prefix()?)) {
            highlights.push(Highlight { from: token.offset_from, to: token.offset_to, term });
        }
    });
    highlights.sort_by_key(|highlight| (highlight.from, std::cmp::Reverse(highlight.to)));
    highlights
}

/// Selects the byte range to show: around the highlights with the best score.
fn window(text: &str, highlights: &[Highlight]) -> (usize, usize) {
    if text.len() <= MAX_SNIPPET_BYTES {
        return (0, text.len());
    }
    let mut best: Option<(&Highlight, (usize, usize))> = None;
    for (highlight, score) in highlights.iter().zip(window_scores(highlights)) {
        if best.is_none_or(|(_, best_score)| score > best_score) {
            best = Some((highlight, score));
        }
    }
    let start = best.map_or(0, |(highlight, _)| highlight.from.saturating_sub(MAX_SNIPPET_BYTES / 4));
    let start = start.min(text.len().saturating_sub(MAX_SNIPPET_BYTES));
    let from = word_start(text, start);
    let end = text.floor_char_boundary(from + MAX_SNIPPET_BYTES);
    let to = if end >= text.len() {
        text.len()
    } else {
        let shown = text.get(from..end).unwrap_or_default();
        shown.rfind(char::is_whitespace).filter(|at| *at > MAX_SNIPPET_BYTES / 2).map_or(end, |at| from + at)
    };
    (from, to)
}

/// For the window that starts at each highlight: the number of distinct terms and of all highlights in it.
fn window_scores(highlights: &[Highlight]) -> impl Iterator<Item = (usize, usize)> {
    // A highlight longer than the window never enters it, so it must not leave it either.
    let fits = |highlight: &&Highlight| highlight.to - highlight.from <= MAX_SNIPPET_BYTES;
    let mut by_end: Vec<&Highlight> = highlights.iter().filter(fits).collect();
    by_end.sort_by_key(|highlight| highlight.to);
    let (mut entering, mut leaving) =
        (by_end.into_iter().peekable(), highlights.iter().filter(fits).peekable());
    let mut inside: HashMap<usize, usize> = HashMap::new();
    let mut all = 0_usize;
    highlights.iter().map(move |first| {
        while let Some(highlight) =
            entering.next_if(|highlight| highlight.to <= first.from + MAX_SNIPPET_BYTES)
        {
            *inside.entry(highlight.term).or_default() += 1;
            all += 1;
        }
        while let Some(highlight) = leaving.next_if(|highlight| highlight.from < first.from) {
            all -= 1;
            let count = inside.entry(highlight.term).or_default();
            *count -= 1;
            if *count == 0 {
                inside.remove(&highlight.term);
            }
        }
        (inside.len(), all)
    })
}

/// The start of the sentence or word around a byte.
fn word_start(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let before = text.get(..at).unwrap_or_default();
    let near = before.len().saturating_sub(60);
    let line = before.rfind('\n').map(|at| at + 1);
    let sentence = before.rfind(". ").map(|at| at + 2);
    let word = before.rfind(char::is_whitespace).map(|at| text.ceil_char_boundary(at + 1));
    let is_near = |at: &usize| *at >= near;
    let start = [line, sentence].into_iter().flatten().filter(is_near).max();
    // In the middle of a very long word, start right here.
    start.or(word.filter(is_near)).unwrap_or(if near == 0 { 0 } else { at })
}

/// Appends text with whitespace collapsed to single spaces.
fn push_flat(out: &mut String, text: &str) {
    for c in text.chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        if !(c == ' ' && out.ends_with(' ')) {
            out.push(c);
        }
    }
}

#[cfg(test)]
mod tests;
