//! What a text without a name is made of, by how its lines look. Pure.

use super::Kind;

/// How many lines are looked at.
const MAX_LINES: usize = 200;

/// What the first word of a line of code often is.
const OPENINGS: &[&str] = &[
    "def",
    "class",
    "import",
    "return",
    "fn",
    "let",
    "const",
    "var",
    "func",
    "function",
    "public",
    "private",
    "protected",
    "static",
    "struct",
    "enum",
    "impl",
    "trait",
    "package",
    "namespace",
    "using",
    "use",
    "raise",
    "throw",
    "elif",
    "except",
    "async",
    "await",
    "pub",
    "mut",
    "export",
    "#include",
    "#define",
    "void",
    "int",
];

/// What a definition is opened with, and what may stand before that.
const DEFINING: &[&str] = &[
    "def",
    "fn",
    "func",
    "function",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "impl",
    "sub",
    "proc",
];
const BEFORE: &[&str] = &[
    "pub",
    "public",
    "private",
    "protected",
    "static",
    "async",
    "export",
    "default",
    "const",
    "final",
    "abstract",
    "inline",
    "unsafe",
];

/// What stands in code, and hardly ever in sentences.
const MARKS: &[&str] = &[
    "==", "!=", "->", "=>", "::", "&&", "||", "+=", "-=", "();", "()", "({", "});", "self.", "this.", " = ",
    "</", "/>", "[0]", "__",
];

impl Kind {
    /// What a text is made of: code where it begins with a definition, or where a third of its lines look like code.
    pub fn guess(text: &str) -> Self {
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MAX_LINES).collect();
        let code = lines.iter().filter(|line| is_code(line)).count();
        let begins = lines.first().is_some_and(|line| is_definition(line));
        if begins || (!lines.is_empty() && code * 3 >= lines.len()) { Self::Code } else { Self::Prose }
    }
}

/// Whether a line opens a function or a type: `def name(`, `pub struct Name {`. All of it may stand on that line.
fn is_definition(line: &str) -> bool {
    let mut rest = line;
    while let Some((word, after)) = rest.split_once(char::is_whitespace) {
        let after = after.trim_start();
        if DEFINING.contains(&word) {
            let name = after.trim_start_matches(|c: char| c.is_alphanumeric() || "_.$*".contains(c));
            return name.len() < after.len() && name.trim_start().starts_with(['(', '<', ':', '{']);
        }
        if !BEFORE.contains(&word) {
            return false;
        }
        rest = after;
    }
    false
}

fn is_code(line: &str) -> bool {
    // A sentence is long and ends as sentences do, whatever it quotes.
    let is_sentence = line.split_whitespace().count() > 25;
    let opens = first_word(line).is_some_and(|word| OPENINGS.contains(&word))
        && line.ends_with([':', '{', '}', ';', ')', '(', '[', ']', '"', '\'']);
    let call = line.contains('(') && line.ends_with([')', '(', ':', '{', ';', ',']) && !line.contains(" (");
    let marks = MARKS.iter().any(|mark| line.contains(mark));
    let closes = line.ends_with(['{', '}', ';']) || line.starts_with(['}', '@']);
    !is_sentence && (opens || call || marks || closes)
}

fn first_word(line: &str) -> Option<&str> {
    line.split(|c: char| c.is_whitespace() || c == '(').next()
}

#[cfg(test)]
mod tests;
