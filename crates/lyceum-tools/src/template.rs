//! Resource templates: `skill://{name}/SKILL.md`, and `doc://{+path}` where the variable may contain `/`.
//!
//! Only these two forms of RFC 6570 are supported: they can be matched without ambiguity.

use std::collections::{BTreeMap, BTreeSet};

/// A parsed template that URIs are matched against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, spans_slash: bool },
}

impl Template {
    /// Parses a template. `None` on an unbalanced brace, an empty or duplicate name, or two adjacent variables.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((literal, tail)) = rest.split_once('{') {
            let (inside, after) = tail.split_once('}')?;
            if literal.contains('}') {
                return None;
            }
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            } else if matches!(parts.last(), Some(Part::Variable { .. })) {
                return None;
            }
            parts.push(variable(inside)?);
            rest = after;
        }
        if rest.contains('}') {
            return None;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        let template = Self { parts };
        let names: BTreeSet<&str> = template.variables().collect();
        let unique = names.len() == template.variables().count();
        unique.then_some(template)
    }

    /// The names of the variables, in order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Variable { name, .. } => Some(name.as_str()),
        })
    }

    /// Matches a URI; returns the values of the variables.
    pub(crate) fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        match_parts(&self.parts, uri, &mut values).then_some(values)
    }
}

fn variable(inside: &str) -> Option<Part> {
    let (name, spans_slash) = match inside.strip_prefix('+') {
        Some(name) => (name, true),
        None => (inside, false),
    };
    let valid = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then(|| Part::Variable { name: name.to_owned(), spans_slash })
}

/// A variable matches the shortest text with which the rest matches, so each URI has one interpretation.
fn match_parts(parts: &[Part], text: &str, values: &mut BTreeMap<String, String>) -> bool {
    match parts {
        [] => text.is_empty(),
        [Part::Literal(literal), rest @ ..] => {
            text.strip_prefix(literal.as_str()).is_some_and(|text| match_parts(rest, text, values))
        }
        [Part::Variable { name, spans_slash }] => {
            let fits = !text.is_empty() && (*spans_slash || !text.contains('/'));
            if fits {
                values.insert(name.clone(), text.to_owned());
            }
            fits
        }
        [Part::Variable { name, spans_slash }, rest @ ..] => {
            let end = |(at, c): (usize, char)| at + c.len_utf8();
            let reach = text.char_indices().take_while(|(_, c)| *spans_slash || *c != '/').map(end);
            for end in reach {
                let (value, tail) = text.split_at(end);
                if match_parts(rest, tail, values) {
                    values.insert(name.clone(), value.to_owned());
                    return true;
                }
            }
            false
        }
    }
}
