//! What a model may write: no hidden characters, and no mentions where GitHub would notify somebody.

/// The first character of a text that readers don't see, or that changes how they see others.
///
/// Zero-width joiners and variation selectors are allowed where scripts and emoji need them: single, after a character
/// that is not ASCII.
pub(crate) fn hidden_character(text: &str) -> Option<char> {
    let mut before = ' ';
    for c in text.chars() {
        let is_hidden = match c {
            '\n' | '\t' => false,
            '\u{200C}' | '\u{200D}' => before.is_ascii() || is_joining(before),
            '\u{FE0E}' | '\u{FE0F}' => {
                is_joining(before) || before.is_ascii_whitespace() || before.is_ascii_alphabetic()
            }
            c => is_always_hidden(c),
        };
        if is_hidden {
            return Some(c);
        }
        before = c;
    }
    None
}

fn is_joining(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}')
}

fn is_always_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}'
            | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// A text on one line for titles and messages at GitHub: mentions notify nobody, and numbers of issues close nothing.
pub(crate) fn neutral(text: &str) -> String {
    let mut neutral = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        neutral.push(if c.is_whitespace() { ' ' } else { c });
        let is_sign = matches!(c, '@' | '#') || (c == '-' && ends_with_gh(&neutral));
        if is_sign && characters.peek().is_some_and(|next| next.is_alphanumeric() || *next == '_') {
            neutral.push(' ');
        }
    }
    neutral
}

/// Whether a text ends with `GH-`, which links to an issue if a number follows.
fn ends_with_gh(text: &str) -> bool {
    let end: String = text.chars().rev().take(3).collect();
    end.eq_ignore_ascii_case("-hg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_hidden(text: &str, expected: Option<char>) {
        assert_eq!(hidden_character(text), expected, "{text:?}");
    }

    #[test]
    fn hidden_characters_are_found_and_scripts_and_emoji_are_left_alone() {
        for plain in ["# Title\n\n\tcode — “quotes” é ñ 日本語 العربية", "👩‍👩‍👧 ❤️ 1️⃣", "می‌خواهم", "a@b.c {{x}}"]
        {
            check_hidden(plain, None);
        }
        for hidden in [
            '\u{202E}',
            '\u{2066}',
            '\u{200B}',
            '\u{FEFF}',
            '\u{0}',
            '\u{1b}',
            '\r',
            '\u{AD}',
            '\u{E0041}',
            '\u{2028}',
        ] {
            check_hidden(&format!("innocent{hidden}text"), Some(hidden));
        }
        check_hidden("a\u{200D}b", Some('\u{200D}'));
        check_hidden("é\u{200D}\u{200C}é", Some('\u{200C}'));
        check_hidden("a\u{FE0F}", Some('\u{FE0F}'));
    }

    #[track_caller]
    fn check_neutral(text: &str, expected: &str) {
        assert_eq!(neutral(text), expected);
        assert_eq!(neutral(expected), expected);
    }

    #[test]
    fn mentions_and_issue_numbers_are_broken_up() {
        check_neutral("by @alice and @acme/core", "by @ alice and @ acme/core");
        check_neutral("fixes #12, closes acme/kb#3 and GH-4", "fixes # 12, closes acme/kb# 3 and GH- 4");
        check_neutral("C# and a @ sign, 100%", "C# and a @ sign, 100%");
        check_neutral("two\nlines", "two lines");
    }
}
