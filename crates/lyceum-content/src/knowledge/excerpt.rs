//! Short forms of a text: first paragraph, truncated text.

use super::{tags, title::atx_heading};

/// Maximum length of an excerpt, in characters.
const MAX_EXCERPT_CHARS: usize = 400;

/// Returns the first paragraph of a [plain text](super::plain_text), on one line and without markup.
pub fn excerpt(body: &str) -> String {
    let mut paragraph = String::new();
    let mut in_code = false;
    for line in body.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        let is_text = !in_code && !line.is_empty() && !is_markup(line);
        match (is_text, paragraph.is_empty()) {
            (true, _) => {
                if !paragraph.is_empty() {
                    paragraph.push(' ');
                }
                paragraph.push_str(&strip_markup(line));
            }
            (false, false) => break,
            (false, true) => {}
        }
        if paragraph.len() > 4 * MAX_EXCERPT_CHARS {
            break;
        }
    }
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    truncate(&words.join(" "), MAX_EXCERPT_CHARS)
}

/// Truncates a text to `max_chars` characters at a word boundary and appends `...` if anything was cut.
pub fn truncate(text: &str, max_chars: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return text.to_owned() };
    let cut = text.get(..end).unwrap_or(text);
    let cut = cut.rfind(' ').and_then(|space| cut.get(..space)).unwrap_or(cut);
    format!("{cut}...")
}

/// Whether a line is markup rather than text: a heading, rule, table, image or comment.
fn is_markup(line: &str) -> bool {
    atx_heading(line).is_some()
        || tags::is_tag_line(line)
        || line.starts_with('|')
        || line.starts_with("![")
        || line.chars().all(|c| matches!(c, '-' | '*' | '_' | '='))
}

/// Strips the markup of links, emphasis and tags: `[b](c)` becomes `b`, and `#tag` becomes `tag`.
pub(super) fn strip_markup(line: &str) -> String {
    let line = line.trim_start_matches(['>', ' ']);
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('[').and_then(|after| after.split_once("]("));
        let is_word_start = text.chars().next_back().is_none_or(char::is_whitespace);
        if let Some((name, after)) = named.filter(|(name, _)| !name.contains(['[', ']'])) {
            text.push_str(name);
            rest = after.split_once(')').map_or("", |(_, after)| after);
        } else if let Some(tag) = tags::tag_at(rest).filter(|_| is_word_start) {
            text.push_str(tag);
            rest = rest.get(1 + tag.len()..).unwrap_or_default();
        } else {
            if !matches!(c, '*' | '`') && !c.is_control() {
                text.push(c);
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    text
}
