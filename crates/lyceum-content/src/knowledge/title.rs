//! The title of a document: declared, else its only first-level heading, else its file name made readable.

use serde_json::{Map, Value};

use super::{
    excerpt::{strip_markup, truncate},
    plain_text::as_fence,
};

/// Maximum length of a title from a heading, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// File names that stand for their folder.
const FOLDER_PAGES: &[&str] = &["readme", "index", "_index", "skill"];

/// Determines the title. `plain` is the [plain text](super::plain_text) of the body.
pub fn title(fields: &Map<String, Value>, plain: &str, path: &str) -> String {
    let declared =
        |key: &str| fields.get(key).and_then(Value::as_str).map(str::trim).filter(|title| !title.is_empty());
    let declared = declared("title").or_else(|| declared("name")).map(str::to_owned);
    declared.or_else(|| only_heading(plain)).unwrap_or_else(|| readable_name(path))
}

/// The text of the first-level heading, if there is exactly one.
fn only_heading(plain: &str) -> Option<String> {
    let (mut fence, mut before, mut found): (Option<&str>, &str, Option<String>) = (None, "", None);
    for line in plain.lines() {
        let mark = as_fence(line);
        match (fence, mark) {
            (None, Some((mark, _))) => fence = Some(mark),
            (Some(open), Some((mark, ""))) if mark.starts_with(open) => fence = None,
            _ => {}
        }
        if fence.is_some() || mark.is_some() {
            before = "";
            continue;
        }
        let heading = match atx_heading(line) {
            Some((1, text)) => Some(text),
            Some(_) => None,
            None if is_setext_underline(line) && is_paragraph(before) => Some(before.trim()),
            None => None,
        };
        before = line;
        if let Some(heading) = heading {
            if found.is_some() {
                return None;
            }
            found = Some(truncate(strip_markup(heading).trim(), MAX_TITLE_CHARS));
        }
    }
    found.filter(|title| title.chars().any(char::is_alphanumeric))
}

/// Parses a heading such as `## Text ##` into its level and text. A closing sequence counts after a space only, so
/// `# C#` keeps its `#`.
pub fn atx_heading(line: &str) -> Option<(usize, &str)> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = line.trim_start_matches(' ');
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let text = line.get(level..).filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))?.trim();
    let without = text.trim_end_matches('#');
    let text = match without.is_empty() || without.ends_with([' ', '\t']) {
        true => without.trim_end(),
        false => text,
    };
    ((1..=6).contains(&level) && indent < 4).then_some((level, text))
}

fn is_setext_underline(line: &str) -> bool {
    let line = line.trim_end();
    let text = line.trim_start_matches(' ');
    line.len() - text.len() < 4 && !text.is_empty() && text.bytes().all(|byte| byte == b'=')
}

fn is_paragraph(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty()
        && !line.starts_with("    ")
        && atx_heading(line).is_none()
        && !text.starts_with(['>', '|'])
        && !text.bytes().all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_'))
}

/// A file name as a title: `getting-started.md` becomes "Getting started". A `README` or `index` has the name of its
/// folder.
fn readable_name(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = document_stem(name);
    let folder = folder.rsplit('/').next().unwrap_or(folder);
    let stands_for_folder = FOLDER_PAGES.iter().any(|page| name.eq_ignore_ascii_case(page));
    let name = if stands_for_folder && !folder.is_empty() { folder } else { name };
    // A name with spaces is written for readers already.
    if name.contains(' ') {
        return name.trim().to_owned();
    }
    let words: Vec<&str> = name.split(['-', '_']).filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    let first = words.first().copied().unwrap_or_default();
    match text.chars().next() {
        // `iPhone` stays as it is.
        Some(c) if !first.chars().any(char::is_uppercase) => {
            c.to_uppercase().chain(text.chars().skip(1)).collect()
        }
        Some(_) => text,
        None => name.to_owned(),
    }
}

/// The name of a document without its extensions: of `index.html.md`, `index`.
pub(super) fn document_stem(name: &str) -> &str {
    let stem = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && is_document_extension(extension) => stem,
        _ => name,
    };
    stem.strip_suffix(".html").filter(|stem| !stem.is_empty()).unwrap_or(stem)
}

/// Whether files with this extension, without its dot, are documents.
pub fn is_document_extension(extension: &str) -> bool {
    ["md", "mdx", "markdown"].iter().any(|known| known.eq_ignore_ascii_case(extension))
}
