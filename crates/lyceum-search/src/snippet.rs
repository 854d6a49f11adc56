//! Snippets: the few lines of a chunk that say why it was found, with the words of the question marked. Pure.

use std::collections::HashMap;

use crate::{
    lexical::{ParsedQuery, analyzer::analyzer_for},
    page::Kind,
};

/// How long a snippet is at most, in bytes, without its marks.
const MAX_SNIPPET_BYTES: usize = 320;

/// What stands around a word of the question.
const OPEN: &str = "**";
const CLOSE: &str = "**";

/// A word of the text that the question has too.
#[derive(Debug, Clone, Copy)]
struct Mark {
    from: usize,
    to: usize,
    term: usize,
}

/// The part of a text with the most different words of the question, those words marked. What the author of prose marked
/// the same way is not: nobody could tell the two apart.
pub(crate) fn snippet(kind: Kind, text: &str, words: &ParsedQuery) -> String {
    let push = |out: &mut String, text: &str| match kind {
        Kind::Prose => text.split(OPEN).for_each(|part| push_flat(out, part)),
        Kind::Code => push_flat(out, text),
    };
    let marks = marks(text, words);
    let (from, to) = window(text, &marks);
    let mut out = String::with_capacity(MAX_SNIPPET_BYTES + 64);
    if from > 0 {
        out.push_str("… ");
    }
    let mut at = from;
    for mark in marks.iter().filter(|mark| mark.from >= from && mark.to <= to) {
        if mark.from < at {
            continue;
        }
        push(&mut out, text.get(at..mark.from).unwrap_or_default());
        out.push_str(OPEN);
        out.push_str(text.get(mark.from..mark.to).unwrap_or_default());
        out.push_str(CLOSE);
        at = mark.to;
    }
    push(&mut out, text.get(at..to).unwrap_or_default());
    if to < text.len() {
        out.push_str(" …");
    }
    out.trim().to_owned()
}

fn marks(text: &str, words: &ParsedQuery) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    if words.is_empty() {
        return marks;
    }
    let ParsedQuery { terms, prefixes, .. } = words;
    analyzer_for(terms.iter().chain(prefixes)).token_stream(text).process(&mut |token| {
        let written = text.get(token.offset_from..token.offset_to).unwrap_or_default();
        let begins = || prefixes.iter().position(|begin| written.to_lowercase().starts_with(begin.as_str()));
        let term = terms.iter().position(|term| *term == token.text);
        if let Some(term) = term.or_else(|| Some(terms.len() + begins()?)) {
            marks.push(Mark { from: token.offset_from, to: token.offset_to, term });
        }
    });
    marks.sort_by_key(|mark| (mark.from, std::cmp::Reverse(mark.to)));
    marks
}

/// From where to where the text is shown: around the marks that say the most.
fn window(text: &str, marks: &[Mark]) -> (usize, usize) {
    if text.len() <= MAX_SNIPPET_BYTES {
        return (0, text.len());
    }
    let mut best: Option<(&Mark, (usize, usize))> = None;
    for (mark, worth) in marks.iter().zip(worths(marks)) {
        if best.is_none_or(|(_, most)| worth > most) {
            best = Some((mark, worth));
        }
    }
    let start = best.map_or(0, |(mark, _)| mark.from.saturating_sub(MAX_SNIPPET_BYTES / 4));
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

/// For each mark how many different words, and how many in all, a window that begins with it has.
fn worths(marks: &[Mark]) -> impl Iterator<Item = (usize, usize)> {
    // One that no window holds never enters, and so must not leave.
    let fits = |mark: &&Mark| mark.to - mark.from <= MAX_SNIPPET_BYTES;
    let mut by_end: Vec<&Mark> = marks.iter().filter(fits).collect();
    by_end.sort_by_key(|mark| mark.to);
    let (mut entering, mut leaving) = (by_end.into_iter().peekable(), marks.iter().filter(fits).peekable());
    let mut inside: HashMap<usize, usize> = HashMap::new();
    let mut all = 0_usize;
    marks.iter().map(move |first| {
        while let Some(mark) = entering.next_if(|mark| mark.to <= first.from + MAX_SNIPPET_BYTES) {
            *inside.entry(mark.term).or_default() += 1;
            all += 1;
        }
        while let Some(mark) = leaving.next_if(|mark| mark.from < first.from) {
            all -= 1;
            let count = inside.entry(mark.term).or_default();
            *count -= 1;
            if *count == 0 {
                inside.remove(&mark.term);
            }
        }
        (inside.len(), all)
    })
}

/// The beginning of the sentence or word that a byte belongs to.
fn word_start(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let before = text.get(..at).unwrap_or_default();
    let near = before.len().saturating_sub(60);
    let line = before.rfind('\n').map(|place| place + 1);
    let sentence = before.rfind(". ").map(|place| place + 2);
    let word = before.rfind(char::is_whitespace).map(|place| text.ceil_char_boundary(place + 1));
    let is_near = |place: &usize| *place >= near;
    let begin = [line, sentence].into_iter().flatten().filter(is_near).max();
    // In the middle of a word that is longer than anyone reads.
    begin.or(word.filter(is_near)).unwrap_or(if near == 0 { 0 } else { at })
}

/// Text on one line.
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
