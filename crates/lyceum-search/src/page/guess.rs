//! Guesses whether a text without a file name is prose or code. Pure.

use super::Kind;

/// Maximum number of lines inspected.
const MAX_LINES: usize = 200;

/// Frequent first words of code lines.
const FIRST_WORDS: &[&str] = &[
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

/// Keywords that start a definition, and modifiers that may precede them.
const KEYWORDS: &[&str] = &[
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
const MODIFIERS: &[&str] = &[
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

/// Character sequences that are common in code and rare in sentences.
const CODE_MARKS: &[&str] = &[
    "==", "!=", "->", "=>", "::", "&&", "||", "+=", "-=", "();", "()", "({", "});", "self.", "this.", " = ",
    "</", "/>", "[0]", "__",
];

impl Kind {
    /// Guesses the kind of a text: code if it starts with a definition or if a third of its lines look like code.
    pub fn guess(text: &str) -> Self {
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MAX_LINES).collect();
        let code = lines.iter().filter(|line| is_code(line)).count();
        let begins = lines.first().is_some_and(|line| is_definition(line));
        if begins || (!lines.is_empty() && code * 3 >= lines.len()) { Self::Code } else { Self::Prose }
    }
}

/// Whether a line starts a function or a type: `def name(`, `pub struct Name {`. The body may follow on the same line.
fn is_definition(line: &str) -> bool {
    let mut rest = line;
    while let Some((word, after)) = rest.split_once(char::is_whitespace) {
        let after = after.trim_start();
        if KEYWORDS.contains(&word) {
            let name = after.trim_start_matches(|c: char| c.is_alphanumeric() || "_.$*".contains(c));
            return name.len() < after.len() && name.trim_start().starts_with(['(', '<', ':', '{']);
        }
        if !MODIFIERS.contains(&word) {
            return false;
        }
        rest = after;
    }
    false
}

fn is_code(line: &str) -> bool {
    // A long line is a sentence, whatever code it quotes.
    let is_sentence = line.split_whitespace().count() > 25;
    let opens = first_word(line).is_some_and(|word| FIRST_WORDS.contains(&word))
        && line.ends_with([':', '{', '}', ';', ')', '(', '[', ']', '"', '\'']);
    let call = line.contains('(') && line.ends_with([')', '(', ':', '{', ';', ',']) && !line.contains(" (");
    let marks = CODE_MARKS.iter().any(|mark| line.contains(mark));
    let closes = line.ends_with(['{', '}', ';']) || line.starts_with(['}', '@']);
    !is_sentence && (opens || call || marks || closes)
}

fn first_word(line: &str) -> Option<&str> {
    line.split(|c: char| c.is_whitespace() || c == '(').next()
}

#[cfg(test)]
mod tests;
