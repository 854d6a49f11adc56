//! Renders a document as markdown, with its provenance as frontmatter.

use std::fmt::Write;

use crate::Document;

/// Renders the whole document.
pub(crate) fn render(document: &Document) -> String {
    let title = document.title();
    let synced_at = document.synced_at.to_string();
    let fields = [
        ("id", Some(document.id.as_str())),
        ("contentType", Some(&document.content_type)),
        ("title", Some(&title)),
        ("source", Some(&document.source)),
        ("path", Some(&document.path)),
        ("commit", Some(&document.commit_sha)),
        ("synced_at", Some(&synced_at)),
        ("url", document.url.as_deref()),
    ];
    let mut text = String::with_capacity(document.content.len() + 512);
    text.push_str("---\n");
    for (name, value) in fields {
        text.push_str(name);
        text.push_str(": ");
        match value {
            Some(value) => quote(&mut text, value),
            None => text.push_str("null"),
        }
        text.push('\n');
    }
    text.push_str("---\n\n");
    text.push_str(document.content.trim_start_matches(['\r', '\n']));
    text
}

/// Writes a string as a quoted YAML scalar on one line, readable by parsers of every YAML version.
fn quote(to: &mut String, text: &str) {
    to.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => to.extend(['\\', c]),
            '\n' => to.push_str("\\n"),
            '\t' => to.push_str("\\t"),
            // Unprintable characters, and line breaks of older YAML versions.
            '\0'..='\u{1f}'
            | '\u{7f}'..='\u{a0}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                // Writing to a string can't fail.
                let _written = write!(to, "\\u{:04X}", u32::from(c));
            }
            c => to.push(c),
        }
    }
    to.push('"');
}

#[cfg(test)]
mod tests;
