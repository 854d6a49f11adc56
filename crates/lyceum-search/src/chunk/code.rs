//! Splits code at definitions. Language-agnostic: it looks for keywords instead of parsing a grammar.

use super::{Chunk, Draft, HEADING_SEPARATOR, MAX_HEADING_CHARS, MIN_CHUNK_BYTES, append};

/// Keywords that start a definition.
const KEYWORDS: &[&str] = &[
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

/// Modifiers that may precede them.
const MODIFIERS: &[&str] = &[
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

/// Maximum indentation of a definition, in columns: includes methods of a class, excludes closures inside them.
const MAX_INDENT: usize = 8;

pub(super) fn chunks(body: &str) -> Vec<Chunk> {
    let mut into = Vec::new();
    let mut draft = Draft::default();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut heading = String::new();
    let mut block: Vec<(usize, &str)> = Vec::new();
    for (number, line) in (1..).zip(body.lines()) {
        let indent = indent(line);
        if indent <= MAX_INDENT && is_definition(line.trim_start()) {
            // Comments and attributes right above belong to the definition.
            let own = block.iter().rev().take_while(|(_, line)| is_note(line)).count();
            let notes = block.split_off(block.len() - own);
            append(&mut draft, &block, &heading, &mut into);
            if draft.text.len() >= MIN_CHUNK_BYTES {
                draft.close(&mut into);
            }
            above.retain(|(outer, _)| *outer < indent);
            above.push((indent, signature(line)));
            heading = above.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(HEADING_SEPARATOR);
            block = notes;
        } else if line.trim().is_empty() {
            append(&mut draft, &block, &heading, &mut into);
            block.clear();
            continue;
        }
        block.push((number, line));
    }
    append(&mut draft, &block, &heading, &mut into);
    draft.close(&mut into);
    into
}

/// Indentation of a line; a tab counts as four columns.
fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn is_definition(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| MODIFIERS.contains(word));
    let first = words.next().map(|word| word.split(['<', '(']).next().unwrap_or(word));
    first.is_some_and(|first| KEYWORDS.contains(&first)) && words.next().is_some()
}

/// Whether a line is a comment, a decorator or an attribute.
fn is_note(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "#", "@", "/*", "*", "--", ";;", "[<"].iter().any(|mark| line.starts_with(mark))
}

/// The signature line of a definition, without the opening `{` or `:`.
fn signature(line: &str) -> String {
    let line = line.trim();
    let line = line.trim_end_matches(['{', ':']).trim_end();
    line.chars().take(MAX_HEADING_CHARS).collect()
}
