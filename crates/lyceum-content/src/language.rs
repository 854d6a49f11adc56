//! Natural languages of documents and queries: declared, by folder or file name, else guessed from the text.
//!
//! A language is a tag such as `de` or `zh-CN`. The guess uses scripts and stop words; a text that gives no clear answer
//! has no language.

mod stop_words;

use std::collections::HashMap;

use serde_json::{Map, Value};

use stop_words::{LATIN, is_ambiguous_word};

/// Characters of a text that are inspected.
const MAX_INSPECTED_CHARS: usize = 4_000;

/// Languages that folders and file names are recognized by.
const KNOWN: &[&str] = &[
    "af", "am", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es",
    "et", "eu", "fa", "fi", "fil", "fr", "ga", "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it",
    "ja", "ka", "kk", "km", "kn", "ko", "lo", "lt", "lv", "mk", "ml", "mn", "mr", "ms", "my", "nb", "ne",
    "nl", "nn", "no", "pa", "pl", "pt", "ro", "ru", "si", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te",
    "th", "tr", "uk", "ur", "uz", "vi", "zh",
];

/// How much a guess may assume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// A document: several stop words, and a clear lead.
    Document,
    /// A query: one stop word that no other language has more of.
    Query,
}

/// Determines the language of a document: from `lang` or `language`, its folder or file name, else its text.
pub fn of_document(fields: &Map<String, Value>, path: &str, plain: &str) -> Option<String> {
    let declared = ["lang", "language", "locale"].iter().filter_map(|key| fields.get(*key)?.as_str());
    if let Some(declared) = declared.filter_map(|text| parse(text.trim())).next() {
        return Some(declared);
    }
    let guess = guess(plain, Evidence::Document);
    // `it/` may hold integration tests: a folder named by an English word counts if the text agrees.
    let is_plausible = |tag: &String| !is_ambiguous_word(tag) || guess == Some(tag.as_str());
    of_path(path).filter(is_plausible).or_else(|| guess.map(str::to_owned))
}

/// Guesses the language of a query.
pub fn of_query(text: &str) -> Option<&'static str> {
    guess(text, Evidence::Query)
}

/// Whether a language is the wanted one, or a regional variant of it: `zh-CN` is a `zh`.
pub fn matches(wanted: &str, is: &str) -> bool {
    let prefix = is.get(..wanted.len()).unwrap_or_default();
    prefix.eq_ignore_ascii_case(wanted)
        && is.get(wanted.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Regular expression of language tags, as [`tag`] accepts them.
pub const TAG_PATTERN: &str = "^[A-Za-z]{2,3}([-_]([A-Za-z]{2}|[A-Za-z]{4}|[0-9]{3}))*$";

/// Parses the tag of a known language into its usual form.
pub fn parse(text: &str) -> Option<String> {
    let is_known = |tag: &String| tag.split('-').next().is_some_and(|language| KNOWN.contains(&language));
    tag(text).filter(is_known)
}

/// Parses a language tag into its usual form: `zh_cn` becomes `zh-CN`.
pub fn tag(text: &str) -> Option<String> {
    let mut parts = text.split(['-', '_']);
    let mut tag = parts.next()?.to_ascii_lowercase();
    if !(2..=3).contains(&tag.len()) || !tag.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    for part in parts {
        let is_letters = part.bytes().all(|byte| byte.is_ascii_alphabetic());
        match part.len() {
            2 if is_letters => tag.extend(["-", &part.to_ascii_uppercase()]),
            4 if is_letters => {
                let (first, rest) = part.split_at(1);
                tag.extend(["-", &first.to_ascii_uppercase(), &rest.to_ascii_lowercase()]);
            }
            3 if part.bytes().all(|byte| byte.is_ascii_digit()) => tag.extend(["-", part]),
            _ => return None,
        }
    }
    Some(tag)
}

/// The language that a path names: `de/a.md`, `docs/zh-CN/a.md`, `a.fr.md`.
fn of_path(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let by_name = name.rsplit('.').nth(1).filter(|_| name.matches('.').count() > 1).and_then(parse);
    by_name.or_else(|| folder.split('/').rev().find_map(parse))
}

fn guess(text: &str, evidence: Evidence) -> Option<&'static str> {
    let end = text.char_indices().nth(MAX_INSPECTED_CHARS).map_or(text.len(), |(at, _)| at);
    let text = text.get(..end).unwrap_or(text);
    by_script(text).or_else(|| by_stop_words(text, evidence))
}

/// The language of a text in a script of few languages.
fn by_script(text: &str) -> Option<&'static str> {
    let mut counts: HashMap<Script, usize> = HashMap::new();
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        *counts.entry(Script::of(c)).or_default() += 1;
    }
    let letters: usize = counts.values().sum();
    let share = |script: Script| counts.get(&script).copied().unwrap_or_default();
    // A character of Chinese says as much as several letters of an alphabet.
    let kana = share(Script::Kana);
    if kana * 10 > letters {
        return Some("ja");
    }
    if (share(Script::Han) + kana) * 5 > letters {
        return Some(if kana * 20 > share(Script::Han) { "ja" } else { "zh" });
    }
    let (script, count) =
        counts.into_iter().filter(|(script, _)| script.is_alphabet()).max_by_key(|(_, count)| *count)?;
    if count * 3 < letters {
        return None;
    }
    let has = |marks: &[char]| text.contains(marks);
    match script {
        Script::Cyrillic if has(&['ї', 'є', 'ґ']) => Some("uk"),
        Script::Cyrillic if has(&['ў']) => Some("be"),
        Script::Cyrillic if has(&['ђ', 'ћ', 'љ', 'њ']) => Some("sr"),
        Script::Cyrillic if has(&['ъ']) && !has(&['ы', 'э']) => Some("bg"),
        Script::Cyrillic => Some("ru"),
        Script::Arabic if has(&['پ', 'چ', 'ژ', 'گ']) => Some("fa"),
        Script::Arabic => Some("ar"),
        Script::Hangul => Some("ko"),
        Script::Greek => Some("el"),
        Script::Hebrew => Some("he"),
        Script::Thai => Some("th"),
        Script::Devanagari => Some("hi"),
        Script::Han | Script::Kana | Script::Other => None,
    }
}

/// The language whose stop words a text has most of.
fn by_stop_words(text: &str, evidence: Evidence) -> Option<&'static str> {
    let mut counts: HashMap<&'static str, usize> = HashMap::new();
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        for (language, words) in LATIN {
            if words.binary_search(&word.as_str()).is_ok() {
                *counts.entry(language).or_default() += 1;
            }
        }
    }
    let mut ranked: Vec<(&'static str, usize)> = counts.into_iter().collect();
    ranked.sort_by_key(|(language, count)| (std::cmp::Reverse(*count), *language));
    let (best, count) = *ranked.first()?;
    let second = ranked.get(1).map_or(0, |(_, count)| *count);
    let is_clear = match evidence {
        Evidence::Document => count >= 3 && count * 3 >= second * 4,
        Evidence::Query => count > second,
    };
    is_clear.then_some(best)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Script {
    Arabic,
    Cyrillic,
    Devanagari,
    Greek,
    Han,
    Hangul,
    Hebrew,
    Kana,
    Thai,
    Other,
}

impl Script {
    fn of(c: char) -> Self {
        match c {
            '\u{0370}'..='\u{03FF}' => Self::Greek,
            '\u{0400}'..='\u{052F}' => Self::Cyrillic,
            '\u{0590}'..='\u{05FF}' => Self::Hebrew,
            '\u{0600}'..='\u{06FF}' => Self::Arabic,
            '\u{0900}'..='\u{097F}' => Self::Devanagari,
            '\u{0E00}'..='\u{0E7F}' => Self::Thai,
            '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7AF}' => Self::Hangul,
            '\u{3040}'..='\u{30FF}' => Self::Kana,
            '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{2FA1F}' => Self::Han,
            _ => Self::Other,
        }
    }

    /// Whether it is an alphabet that tells the language.
    fn is_alphabet(self) -> bool {
        match self {
            Self::Han | Self::Kana | Self::Other => false,
            Self::Arabic
            | Self::Cyrillic
            | Self::Devanagari
            | Self::Greek
            | Self::Hangul
            | Self::Hebrew
            | Self::Thai => true,
        }
    }
}

#[cfg(test)]
mod tests;
