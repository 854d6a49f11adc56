//! Splits Markdown by headings, and within a section by paragraphs, lists and fenced code blocks.

use lyceum_content::knowledge::atx_heading;

use super::{Chunk, Draft, HEADING_SEPARATOR, MAX_HEADING_CHARS, MIN_CHUNK_BYTES, append};

pub(super) fn chunks(body: &str) -> Vec<Chunk> {
    let mut into = Vec::new();
    let mut draft = Draft::default();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut heading = String::new();
    let mut block: Vec<(usize, &str)> = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in (1..).zip(body.lines()) {
        match (fence, as_fence(line)) {
            (None, Some((mark, _))) => fence = Some(mark),
            // A closing fence has the same character, at least the same length, and no info string.
            (Some(open), Some((mark, ""))) if mark.starts_with(open) => fence = None,
            _ => {}
        }
        if fence.is_none()
            && let Some((level, name)) = as_heading(line)
        {
            append(&mut draft, &block, &heading, &mut into);
            block.clear();
            if draft.text.len() >= MIN_CHUNK_BYTES {
                draft.close(&mut into);
            }
            above.retain(|(outer, _)| *outer < level);
            above.push((level, name.chars().take(MAX_HEADING_CHARS).collect()));
            heading = above.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(HEADING_SEPARATOR);
            block.push((number, line));
            continue;
        }
        if line.trim().is_empty() && fence.is_none() {
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

/// Parses a code fence into its marker and the rest of the line.
fn as_fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let first = line.chars().next().filter(|first| ['`', '~'].contains(first))?;
    let after = line.trim_start_matches(first);
    let mark = line.get(..line.len() - after.len())?;
    // Inline code between backticks is not a fence.
    (mark.len() >= 3 && !(first == '`' && after.contains('`'))).then_some((mark, after))
}

/// Parses a heading into its level and text.
fn as_heading(line: &str) -> Option<(usize, &str)> {
    atx_heading(line).filter(|(_, name)| !name.is_empty())
}
