//! Content of the files: frontmatter, and one to six kilobytes of text.

use super::words::{Random, Words};

/// Whether a document has files.
#[derive(Clone, Copy)]
pub(super) enum Files {
    Some,
    None,
}

/// A document, and its keywords.
pub(super) fn document(words: &Words, random: &mut Random, files: Files) -> (String, Vec<String>) {
    // A rare keyword, one of two words, and some common ones.
    let mut keywords =
        vec![words.any(random).to_owned(), format!("{} {}", words.any(random), words.any(random))];
    for _ in 0..random.between(2, 5) {
        let word = words.common(random).to_owned();
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
    let (priority, listed, body) = (random.below(10), keywords.join(", "), prose(words, random));
    let text = format!(
        "---\nkeywords: [{listed}]\ndescription: {}\npriority: {priority}\n{declared}---\n\n{body}",
        sentences(words, random, 80)
    );
    (text, keywords)
}

/// A `SKILL.md`, and its keywords, the words of its name.
pub(super) fn standard_skill(name: &str, words: &Words, random: &mut Random) -> (String, Vec<String>) {
    let keywords: Vec<String> = name.split('-').map(str::to_owned).collect();
    let text = format!(
        "---\nname: {name}\ndescription: \"{} Use when the user asks for {} or {}.\"\nlicense: Apache-2.0\n\
         allowed-tools: Read Grep Bash(python:*)\nmetadata:\n  author: {}\n  version: \"1.{}\"\n---\n\n{}",
        sentences(words, random, 120),
        words.any(random),
        words.common(random),
        words.any(random),
        random.below(20),
        prose(words, random),
    );
    (text, keywords)
}

/// A script.
pub(super) fn script(words: &Words, random: &mut Random) -> String {
    let mut text = "#!/usr/bin/env python3\nimport sys\n\n".to_owned();
    for _ in 0..random.between(10, 40) {
        text.push_str(&format!(
            "{} = {} # {}\n",
            words.any(random),
            random.below(1000),
            sentences(words, random, 30)
        ));
    }
    text
}

/// Headings, paragraphs, lists and code: one to six kilobytes.
pub(super) fn prose(words: &Words, random: &mut Random) -> String {
    let length = random.between(1024, 6 * 1024);
    let mut text = format!("# {}\n\n", words.any(random));
    while text.len() < length {
        let part = match random.below(4) {
            0 => format!("## {} {}\n\n", words.common(random), words.any(random)),
            1 => (0..random.between(2, 6)).map(|_| format!("- {}\n", sentences(words, random, 60))).collect(),
            2 => format!(
                "\n```ts\nconst {} = \"{}\";\n```\n\n",
                words.any(random),
                sentences(words, random, 40)
            ),
            _ => format!("{}\n\n", sentences(words, random, 300)),
        };
        text.push_str(&part);
    }
    text
}

/// Sentences of about `length` characters in total.
pub(super) fn sentences(words: &Words, random: &mut Random, length: usize) -> String {
    let mut text = String::new();
    while text.len() < length {
        let count = random.between(4, 14);
        let sentence: Vec<&str> = (0..count).map(|_| words.common(random)).collect();
        text.push_str(if text.is_empty() { "Write " } else { " Then " });
        text.push_str(&sentence.join(" "));
        text.push('.');
    }
    text
}
