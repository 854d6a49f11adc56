//! Tags in the text of a document, as in Obsidian: `#topic`, `#topic/part`.

use std::collections::BTreeSet;

use super::plain_text::as_fence;

/// Maximum number of tags taken from one text.
const MAX_TAGS: usize = 50;

/// Maximum length of a tag, in bytes.
const MAX_TAG_BYTES: usize = 100;

/// The distinct tags of a text, without `#`. Code is skipped.
pub fn inline_tags(plain: &str) -> Vec<String> {
    let mut tags = BTreeSet::new();
    let mut fence: Option<&str> = None;
    for line in plain.lines() {
        match (fence, as_fence(line)) {
            (None, Some((mark, _))) => fence = Some(mark),
            (Some(open), Some((mark, ""))) if mark.starts_with(open) => fence = None,
            _ => {}
        }
        if fence.is_some() || !line.contains('#') {
            continue;
        }
        // Every second part is between backticks.
        for text in line.split('`').step_by(2) {
            tags.extend(tags_of(text).map(str::to_owned));
        }
        if tags.len() >= MAX_TAGS {
            break;
        }
    }
    tags.into_iter().take(MAX_TAGS).collect()
}

fn tags_of(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices('#').filter(|(at, _)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ','))
    });
    starts.filter_map(|(at, _)| tag_at(text.get(at..)?))
}

/// The tag at the start of a text, without `#`. `#123` is a number of an issue, `#fa0` a color.
pub(super) fn tag_at(text: &str) -> Option<&str> {
    let text = text.strip_prefix('#')?;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let tag = text.get(..end)?.trim_end_matches(['/', '-']);
    let is_number = tag.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let is_color = matches!(tag.len(), 3 | 4 | 6 | 8)
        && tag.bytes().all(|byte| byte.is_ascii_hexdigit())
        && tag.bytes().any(|byte| byte.is_ascii_digit());
    let is_tag = tag.starts_with(|c: char| c.is_alphanumeric() || c == '_') && tag.len() <= MAX_TAG_BYTES;
    (is_tag && !is_number && !is_color).then_some(tag)
}

/// Whether a line consists of tags only.
pub(super) fn is_tag_line(line: &str) -> bool {
    let mut words = line.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| tag_at(word).is_some_and(|tag| word.len() == tag.len() + 1))
}
