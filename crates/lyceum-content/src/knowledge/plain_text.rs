//! The text of a markdown file for search, titles and excerpts: without JSX, HTML tags, templating, comments and
//! wikilink brackets.
//!
//! Invariant: it has exactly the lines of the original, so that line numbers stay valid. Code is left as written.

mod noise;
mod wikilink;

use noise::Noise;

/// Maximum length of a construct that is removed, in bytes. An opening mark without an end within it is text.
const MAX_CONSTRUCT_BYTES: usize = 4 * 1024;

/// Number of opening marks without an end after which the rest is taken as text, so that no file is slow to read.
const MAX_UNCLOSED: usize = 1_000;

/// The dialect of a markdown file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `.md` and `.markdown`.
    Markdown,
    /// `.mdx`: markdown with JSX, JavaScript expressions, imports and exports.
    Mdx,
}

impl Dialect {
    /// The dialect of a file, by its extension.
    pub fn of_path(path: &str) -> Self {
        match path.rsplit_once('.') {
            Some((_, extension)) if extension.eq_ignore_ascii_case("mdx") => Self::Mdx,
            _ => Self::Markdown,
        }
    }
}

/// Removes what is not text; keeps every line break.
pub fn plain_text(body: &str, dialect: Dialect) -> String {
    let text = String::with_capacity(body.len());
    let mut scanner = Scanner { rest: body, text, dialect, unclosed: 0 };
    while !scanner.rest.is_empty() {
        scanner.line();
    }
    scanner.text
}

/// Parses a code fence into its marker and the rest of the line.
pub(super) fn as_fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let first = line.chars().next().filter(|first| ['`', '~'].contains(first))?;
    let after = line.trim_start_matches(first);
    let mark = line.get(..line.len() - after.len())?;
    // Inline code between backticks is not a fence.
    (mark.len() >= 3 && !(first == '`' && after.contains('`'))).then_some((mark, after))
}

struct Scanner<'a> {
    rest: &'a str,
    text: String,
    dialect: Dialect,
    unclosed: usize,
}

impl Scanner<'_> {
    /// Handles what starts at the beginning of a line, and the text up to its end.
    fn line(&mut self) {
        let line = self.rest.lines().next().unwrap_or_default();
        if let Some((mark, _)) = as_fence(line) {
            return self.code_block(mark);
        }
        if self.dialect == Dialect::Mdx && noise::is_module_line(line) {
            let length = noise::module_block(self.rest);
            return self.drop_bytes(length);
        }
        while !self.rest.is_empty() {
            if self.rest.starts_with('\n') {
                return self.copy_bytes(1);
            }
            self.inline();
        }
    }

    /// Copies a fenced code block.
    fn code_block(&mut self, mark: &str) {
        let mut length = 0;
        for (number, line) in self.rest.split_inclusive('\n').enumerate() {
            length += line.len();
            // A closing fence has the same character, at least the same length, and no info string.
            if number > 0
                && as_fence(line).is_some_and(|(end, info)| info.is_empty() && end.starts_with(mark))
            {
                break;
            }
        }
        self.copy_bytes(length);
    }

    /// Handles one construct or one character.
    fn inline(&mut self) {
        let rest = self.rest;
        if rest.starts_with('`') {
            return self.copy_bytes(inline_code(rest));
        }
        if rest.starts_with('\\') {
            let escaped = rest.chars().nth(1).filter(|next| *next != '\n').map_or(0, char::len_utf8);
            return self.copy_bytes(1 + escaped);
        }
        if let Some((length, label)) = wikilink::at(rest) {
            return self.replace_bytes(length, label);
        }
        let is_mark = rest.starts_with(['<', '{', '%', '[']) && self.unclosed < MAX_UNCLOSED;
        if is_mark {
            let is_word_start = self.text.chars().next_back().is_none_or(char::is_whitespace);
            if let Some(Noise { length, text }) = noise::at(rest, self.dialect, is_word_start) {
                return self.replace_bytes(length, text);
            }
            self.unclosed += usize::from(!rest.starts_with('['));
        }
        self.copy_bytes(rest.chars().next().map_or(1, char::len_utf8));
    }

    fn copy_bytes(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.text.push_str(copied);
        self.rest = rest;
    }

    /// Replaces a construct by text on one line, followed by the construct's line breaks.
    fn replace_bytes(&mut self, length: usize, text: impl AsRef<str>) {
        let text = text.as_ref();
        let (dropped, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        // Two words stay two words.
        if text.is_empty() && is_word(self.text.chars().next_back()) && is_word(rest.chars().next()) {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.text.extend(dropped.matches('\n'));
    }

    fn drop_bytes(&mut self, length: usize) {
        self.replace_bytes(length, "");
    }
}

/// Length of inline code, with its backticks; of the backticks alone if it is not closed in its paragraph.
fn inline_code(text: &str) -> usize {
    let run = |text: &str| text.len() - text.trim_start_matches('`').len();
    let opened = run(text);
    let window = text.get(..text.floor_char_boundary(MAX_CONSTRUCT_BYTES)).unwrap_or(text);
    let paragraph = window.split("\n\n").next().unwrap_or(window);
    let mut at = opened;
    while let Some(found) = paragraph.get(at..).and_then(|rest| rest.find('`')) {
        let closed = paragraph.get(at + found..).map_or(0, run);
        at += found + closed;
        if closed == opened {
            return at;
        }
    }
    opened
}

/// Position after the first `end` within the maximum length of a construct.
fn end_of(text: &str, end: &str) -> Option<usize> {
    let window = text.get(..text.floor_char_boundary(MAX_CONSTRUCT_BYTES)).unwrap_or(text);
    window.find(end).map(|at| at + end.len())
}
