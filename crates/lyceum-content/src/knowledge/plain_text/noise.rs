//! Constructs that are not text: comments, templating, JavaScript, and tags.

use super::{Dialect, end_of};

/// HTML elements whose tags are removed from `.md` files. Other names in angle brackets are text there: `Vec<String>`.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "article",
    "aside",
    "audio",
    "b",
    "big",
    "blockquote",
    "br",
    "button",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "li",
    "link",
    "main",
    "mark",
    "meta",
    "nav",
    "noscript",
    "object",
    "ol",
    "p",
    "picture",
    "pre",
    "q",
    "s",
    "samp",
    "script",
    "section",
    "small",
    "source",
    "span",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
];

/// Attributes that a reader sees.
const SHOWN_ATTRIBUTES: &[&str] = &["title", "label", "alt"];

/// A construct that is not text.
pub(super) struct Noise {
    /// Its length in bytes.
    pub length: usize,
    /// The part of it that a reader sees.
    pub text: String,
}

/// The construct at the start of a text, if any. Some marks count at the start of a word only.
pub(super) fn at(text: &str, dialect: Dialect, is_word_start: bool) -> Option<Noise> {
    let dropped = |length: usize| Some(Noise { length, text: String::new() });
    match text.as_bytes().first()? {
        b'<' if text.starts_with("<!--") => end_of(text, "-->").and_then(dropped),
        b'<' => tag(text, dialect),
        b'{' if text.starts_with("{/*") => end_of(text, "*/}").and_then(dropped),
        b'{' if text.starts_with("{%") => end_of(text, "%}").and_then(dropped),
        b'{' if text.starts_with("{{") => {
            let length = end_of(text, "}}")?;
            Some(Noise { length, text: macro_arguments(text.get(2..length - 2)?) })
        }
        // Attributes of a heading or block: `{#id}`, `{: .class}`.
        b'{' if text.starts_with("{#") || text.starts_with("{:") => {
            let length = end_of(text, "}")?;
            text.get(..length).filter(|inside| !inside.contains('\n')).and_then(|_| dropped(length))
        }
        b'{' if dialect == Dialect::Mdx => balanced(text, '{', '}').and_then(dropped),
        // A comment of Obsidian.
        b'%' if is_word_start && text.starts_with("%%") => {
            end_of(text.get(2..)?, "%%").and_then(|end| dropped(end + 2))
        }
        b'[' if text.starts_with("[!") => callout(text).and_then(dropped),
        _ => None,
    }
}

/// Whether a line of MDX starts an `import` or `export`.
pub(super) fn is_module_line(line: &str) -> bool {
    let keyword = |keyword: &str| {
        line.strip_prefix(keyword).is_some_and(|rest| rest.starts_with([' ', '{', '*', '"', '\'']))
    };
    keyword("import") || keyword("export")
}

/// Length of imports and exports: up to a blank line at which all brackets are closed.
pub(super) fn module_block(text: &str) -> usize {
    let (mut length, mut depth) = (0, 0_i32);
    for line in text.split_inclusive('\n') {
        if depth <= 0 && line.trim().is_empty() {
            break;
        }
        length += line.len();
        for c in line.chars() {
            match c {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                _ => {}
            }
        }
    }
    length
}

/// Text of a template expression: the quoted arguments of a macro call such as `{{domxref("Element")}}`. Variables,
/// filters and shortcodes have none.
fn macro_arguments(inside: &str) -> String {
    let Some((name, arguments)) = inside.split_once('(') else { return String::new() };
    if !name.trim().chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        return String::new();
    }
    let quoted =
        arguments.split('"').skip(1).step_by(2).filter(|text| !text.is_empty() && !text.contains('\n'));
    quoted.collect::<Vec<_>>().join(" ")
}

/// The kind of an Obsidian callout: `[!note]`, with an optional fold mark.
fn callout(text: &str) -> Option<usize> {
    let (kind, after) = text.strip_prefix("[!")?.split_once(']')?;
    let is_kind = !kind.is_empty() && kind.chars().all(|c| c.is_alphanumeric() || "-_| ".contains(c));
    let fold = usize::from(after.starts_with(['+', '-']));
    is_kind.then_some(2 + kind.len() + 1 + fold)
}

/// Length of balanced brackets; quoted brackets don't count.
fn balanced(text: &str, open: char, close: char) -> Option<usize> {
    let window = text.get(..text.floor_char_boundary(super::MAX_CONSTRUCT_BYTES)).unwrap_or(text);
    let (mut depth, mut quote) = (0_usize, None);
    for (at, c) in window.char_indices() {
        match (quote, c) {
            (Some(mark), c) if c == mark || c == '\n' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(c),
            (None, c) if c == open => depth += 1,
            (None, c) if c == close => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + c.len_utf8());
                }
            }
            (None, _) => {}
        }
    }
    None
}

/// An opening or closing tag, with the attributes that a reader sees. A script or style goes with its content.
fn tag(text: &str, dialect: Dialect) -> Option<Noise> {
    let inside = text.strip_prefix('<')?;
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let end = inside
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')))
        .unwrap_or(inside.len());
    let (name, after) = inside.split_at_checked(end)?;
    let is_fragment = name.is_empty() && after.starts_with('>');
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && after.starts_with(|c: char| c.is_whitespace() || c == '/' || c == '>');
    let is_tag = match dialect {
        Dialect::Mdx => is_name || is_fragment,
        Dialect::Markdown => is_name && ELEMENTS.contains(&name.to_ascii_lowercase().as_str()),
    };
    if !is_tag {
        return None;
    }
    let length = text.len() - after.len() + attributes(after)?;
    for element in ["script", "style"] {
        if name.eq_ignore_ascii_case(element) && !text.starts_with("</") {
            let closing = format!("</{element}>");
            let content = end_of(text.get(length..)?, &closing).unwrap_or_default();
            return Some(Noise { length: length + content, text: String::new() });
        }
    }
    Some(Noise { length, text: shown_attributes(text.get(..length)?) })
}

/// Length of the attributes of a tag, with the closing `>`.
fn attributes(text: &str) -> Option<usize> {
    let window = text.get(..text.floor_char_boundary(super::MAX_CONSTRUCT_BYTES)).unwrap_or(text);
    let (mut quote, mut braces) = (None, 0_usize);
    for (at, c) in window.char_indices() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => braces += 1,
            (None, '}') => braces = braces.saturating_sub(1),
            (None, '>') if braces == 0 => return Some(at + 1),
            // A paragraph ends here, so the bracket was not that of a tag.
            (None, '\n') if window.get(at + 1..).is_some_and(|rest| rest.starts_with('\n')) => return None,
            (None, _) => {}
        }
    }
    None
}

fn shown_attributes(tag: &str) -> String {
    let mut shown = Vec::new();
    for name in SHOWN_ATTRIBUTES {
        let value = tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
        shown.extend(value.map(|(value, _)| value).filter(|value| !value.contains('\n')));
    }
    shown.join(" ")
}
