//! Code, cut where a definition begins, in whatever language: by the words that begin one, not by a grammar.

use super::{Chunk, Draft, HEADING_SEPARATOR, MAX_HEADING_CHARS, MIN_CHUNK_BYTES, place};

/// Words that begin a definition.
const DEFINES: &[&str] = &[
    "fn",
    "def",
    "class",
    "function",
    "func",
    "impl",
    "trait",
    "struct",
    "enum",
    "interface",
    "type",
    "module",
    "mod",
    "namespace",
    "sub",
    "object",
    "protocol",
    "extension",
    "record",
    "contract",
    "macro_rules!",
    "procedure",
];

/// Words that may stand before those.
const BEFORE: &[&str] = &[
    "pub",
    "pub(crate)",
    "pub(super)",
    "async",
    "unsafe",
    "const",
    "static",
    "export",
    "default",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "sealed",
    "override",
    "virtual",
    "extern",
    "inline",
    "open",
    "data",
    "declare",
    "local",
];

/// How far a definition may stand to the right, in columns, to count: a method of a class, not a closure in it.
const MAX_INDENT: usize = 8;

pub(super) fn chunks(body: &str) -> Vec<Chunk> {
    let mut into = Vec::new();
    let mut draft = Draft::default();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut heading = String::new();
    let mut block: Vec<(usize, &str)> = Vec::new();
    for (number, line) in (1..).zip(body.lines()) {
        let indent = indent(line);
        if indent <= MAX_INDENT && defines(line.trim_start()) {
            // Comments and attributes right above belong to what they speak of.
            let own = block.iter().rev().take_while(|(_, line)| is_note(line)).count();
            let notes = block.split_off(block.len() - own);
            place(&mut draft, &block, &heading, &mut into);
            if draft.text.len() >= MIN_CHUNK_BYTES {
                draft.close(&mut into);
            }
            above.retain(|(outer, _)| *outer < indent);
            above.push((indent, signature(line)));
            heading = above.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(HEADING_SEPARATOR);
            block = notes;
        } else if line.trim().is_empty() {
            place(&mut draft, &block, &heading, &mut into);
            block.clear();
            continue;
        }
        block.push((number, line));
    }
    place(&mut draft, &block, &heading, &mut into);
    draft.close(&mut into);
    into
}

/// How far a line stands to the right; a tab counts as four.
fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn defines(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| BEFORE.contains(word));
    let first = words.next().map(|word| word.split(['<', '(']).next().unwrap_or(word));
    first.is_some_and(|first| DEFINES.contains(&first)) && words.next().is_some()
}

/// A comment, a decorator or an attribute.
fn is_note(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "#", "@", "/*", "*", "--", ";;", "[<"].iter().any(|mark| line.starts_with(mark))
}

/// A definition on one line, without what follows it.
fn signature(line: &str) -> String {
    let line = line.trim();
    let line = line.trim_end_matches(['{', ':']).trim_end();
    line.chars().take(MAX_HEADING_CHARS).collect()
}
