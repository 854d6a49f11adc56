//! What stands in the files: frontmatter, and text of one to six kilobytes.

use super::words::{Dice, Words};

/// Whether a document has files of its own.
#[derive(Clone, Copy)]
pub(super) enum Files {
    Some,
    None,
}

/// A document, and its keywords.
pub(super) fn document(words: &Words, dice: &mut Dice, files: Files) -> (String, Vec<String>) {
    // One that is rare, one of two words, and some that many skills share.
    let mut keywords = vec![words.any(dice).to_owned(), format!("{} {}", words.any(dice), words.any(dice))];
    for _ in 0..dice.between(2, 5) {
        let word = words.common(dice).to_owned();
        if !keywords.contains(&word) {
            keywords.push(word);
        }
    }
    let declared = match files {
        Files::Some => {
            "assets:\n  - file: template.md\n    description: A template\n    type: template\n\
             scripts:\n  - file: check.sh\n    description: Checks the work\n    execution: server\n    \
             args:\n      - name: target\n        description: What to check\n        required: true\n"
        }
        Files::None => "",
    };
    let (priority, listed, body) = (dice.below(10), keywords.join(", "), prose(words, dice));
    let text = format!(
        "---\nkeywords: [{listed}]\ndescription: {}\npriority: {priority}\n{declared}---\n\n{body}",
        sentences(words, dice, 80)
    );
    (text, keywords)
}

/// A `SKILL.md`, and the words it can be found by: those of its name.
pub(super) fn standard_skill(name: &str, words: &Words, dice: &mut Dice) -> (String, Vec<String>) {
    let keywords: Vec<String> = name.split('-').map(str::to_owned).collect();
    let text = format!(
        "---\nname: {name}\ndescription: \"{} Use when the user asks for {} or {}.\"\nlicense: Apache-2.0\n\
         allowed-tools: Read Grep Bash(python:*)\nmetadata:\n  author: {}\n  version: \"1.{}\"\n---\n\n{}",
        sentences(words, dice, 120),
        words.any(dice),
        words.common(dice),
        words.any(dice),
        dice.below(20),
        prose(words, dice),
    );
    (text, keywords)
}

/// A script.
pub(super) fn script(words: &Words, dice: &mut Dice) -> String {
    let mut text = "#!/usr/bin/env python3\nimport sys\n\n".to_owned();
    for _ in 0..dice.between(10, 40) {
        text.push_str(&format!(
            "{} = {} # {}\n",
            words.any(dice),
            dice.below(1000),
            sentences(words, dice, 30)
        ));
    }
    text
}

/// Headings, paragraphs, lists and code: one to six kilobytes.
pub(super) fn prose(words: &Words, dice: &mut Dice) -> String {
    let length = dice.between(1024, 6 * 1024);
    let mut text = format!("# {}\n\n", words.any(dice));
    while text.len() < length {
        let part = match dice.below(4) {
            0 => format!("## {} {}\n\n", words.common(dice), words.any(dice)),
            1 => (0..dice.between(2, 6)).map(|_| format!("- {}\n", sentences(words, dice, 60))).collect(),
            2 => format!("\n```ts\nconst {} = \"{}\";\n```\n\n", words.any(dice), sentences(words, dice, 40)),
            _ => format!("{}\n\n", sentences(words, dice, 300)),
        };
        text.push_str(&part);
    }
    text
}

/// Sentences of about so many characters in all.
pub(super) fn sentences(words: &Words, dice: &mut Dice, length: usize) -> String {
    let mut text = String::new();
    while text.len() < length {
        let count = dice.between(4, 14);
        let sentence: Vec<&str> = (0..count).map(|_| words.common(dice)).collect();
        text.push_str(if text.is_empty() { "Write " } else { " Then " });
        text.push_str(&sentence.join(" "));
        text.push('.');
    }
    text
}
