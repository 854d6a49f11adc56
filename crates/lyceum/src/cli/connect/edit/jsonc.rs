//! JSON with comments and trailing commas: the positions of its parts, and edits by them.

mod parse;

use serde_json::Value;

use super::{Entry, Slot, SyntaxError};
use parse::{Kind, Node, Part, parse};

/// The value in a place.
pub(super) fn get(text: &str, slot: &Slot) -> Result<Option<Value>, SyntaxError> {
    let root = parse_root(text)?;
    Ok(find(text, &root, slot)?.map(|part| part.value.to_json()))
}

/// Puts an entry into its place.
pub(super) fn set(text: &str, slot: &Slot, entry: &Entry) -> Result<String, SyntaxError> {
    let layout = Layout::of(text);
    put(text, slot, &|indent| layout.entry(entry, indent))
}

/// Puts what is in that place of another text into this one, as it is written there.
pub(super) fn transplant(text: &str, from: &str, slot: &Slot) -> Result<String, SyntaxError> {
    let root = parse_root(from)?;
    let Some(part) = find(from, &root, slot)? else { return Ok(text.to_owned()) };
    let raw = from.get(part.value.span.clone()).unwrap_or_default();
    put(text, slot, &|_| raw.to_owned())
}

/// Removes what is in a place.
pub(super) fn remove(text: &str, slot: &Slot) -> Result<String, SyntaxError> {
    let root = parse_root(text)?;
    let Some(container) = container(text, &root, slot)? else { return Ok(text.to_owned()) };
    let Some(position) = container.parts().iter().position(|part| slot.is(part)) else {
        return Ok(text.to_owned());
    };
    Ok(without(text, container, position))
}

/// Puts a rendered value into a place; `render` gets the indentation of its line.
fn put(text: &str, slot: &Slot, render: &dyn Fn(&str) -> String) -> Result<String, SyntaxError> {
    let base = if text.trim_start_matches('\u{feff}').trim().is_empty() { "{}\n" } else { text };
    let root = parse_root(base)?;
    let layout = Layout::of(base);
    if let Some(part) = find(base, &root, slot)? {
        let indent = layout.indent_at(part.start);
        let mut edited = base.to_owned();
        edited.replace_range(part.value.span.clone(), &render(indent));
        return Ok(edited);
    }
    // The deepest object that exists, and the keys that are missing below it.
    let (mut inner, mut missing) = (&root, slot.path());
    while let Some((key, rest)) = missing.split_first() {
        let Some(part) = inner.member(key) else { break };
        (inner, missing) = (&part.value, rest);
    }
    let child_indent = layout.child_indent(inner);
    let depth_indent = |depth: usize| format!("{child_indent}{}", layout.unit.repeat(depth));
    let own = render(&depth_indent(missing.len()));
    let mut rendered = match slot {
        Slot::Member { name, .. } => format!("{}: {own}", Value::from(name.as_str())),
        Slot::Element { .. } => own,
    };
    for (depth, key) in missing.iter().enumerate().rev() {
        let is_array = matches!(slot, Slot::Element { .. }) && depth + 1 == missing.len();
        let (open, close) = if is_array { ("[", "]") } else { ("{", "}") };
        let newline = layout.newline;
        let (inside, outside) = (depth_indent(depth + 1), depth_indent(depth));
        rendered =
            format!("{}: {open}{newline}{inside}{rendered}{newline}{outside}{close}", Value::from(*key));
    }
    Ok(with(base, &layout, inner, &child_indent, &rendered))
}

/// The text with one more part at the end of this object or array.
fn with(text: &str, layout: &Layout<'_>, container: &Node, indent: &str, rendered: &str) -> String {
    let newline = layout.newline;
    let close = container.span.end.saturating_sub(1);
    let closing_indent = layout.indent_at(container.span.start);
    let slice = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let Some(last) = container.parts().last() else {
        let open = container.span.start + 1;
        let inside = slice(open, close).trim_end();
        let (head, tail) = (slice(0, open), slice(close, text.len()));
        return format!("{head}{inside}{newline}{indent}{rendered}{newline}{closing_indent}{tail}");
    };
    let (comma, own_comma) = if last.comma.is_some() { ("", ",") } else { (",", "") };
    // A comment on the line of the last part stays there.
    let after = last.comma.map_or(last.value.span.end, |comma| comma + 1);
    let after = end_of_line_comment(text, after, close);
    let rest = slice(after, close);
    let (head, between) = (slice(0, last.value.span.end), slice(last.value.span.end, after));
    let gap = if rest.contains('\n') { rest.to_owned() } else { format!("{newline}{closing_indent}") };
    let tail = slice(close, text.len());
    format!("{head}{comma}{between}{newline}{indent}{rendered}{own_comma}{gap}{tail}")
}

/// The text without one part of this object or array.
fn without(text: &str, container: &Node, position: usize) -> String {
    let parts = container.parts();
    let Some(part) = parts.get(position) else { return text.to_owned() };
    let close = container.span.end.saturating_sub(1);
    let slice = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let previous = position.checked_sub(1).and_then(|position| parts.get(position));
    let is_last = position + 1 == parts.len();
    // Its line from the line break on, if it is the first on it.
    let before = slice(0, part.start);
    let stem = before.trim_end_matches([' ', '\t']);
    let starts_line = stem.ends_with('\n');
    let start = if starts_line {
        stem.strip_suffix("\r\n").or_else(|| stem.strip_suffix('\n')).unwrap_or(stem).len()
    } else {
        part.start
    };
    let mut end = part.comma.map_or(part.value.span.end, |comma| comma + 1);
    end = end_of_line_comment(text, end, close);
    if !starts_line && !is_last {
        // The next part is on the same line: without the space between them.
        end += slice(end, text.len()).len() - slice(end, text.len()).trim_start_matches([' ', '\t']).len();
    }
    let (mut head, tail) = (slice(0, start).to_owned(), slice(end, text.len()));
    if let (true, None, Some(comma)) = (is_last, part.comma, previous.and_then(|previous| previous.comma)) {
        head.remove(comma);
        if !starts_line {
            head.truncate(head.trim_end_matches([' ', '\t']).len());
        }
    }
    let open = container.span.start + 1;
    if parts.len() == 1 && slice(open, start).trim().is_empty() && slice(end, close).trim().is_empty() {
        return format!("{}{}", slice(0, open), slice(close, text.len()));
    }
    format!("{head}{tail}")
}

/// Where a comment ends that follows on the same line; `from` if there is none.
fn end_of_line_comment(text: &str, from: usize, limit: usize) -> usize {
    let rest = text.get(from..limit).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    let comment = line.trim();
    let is_comment = comment.starts_with("//") || (comment.starts_with("/*") && comment.ends_with("*/"));
    if is_comment { from + line.trim_end().len() } else { from }
}

fn parse_root(text: &str) -> Result<Node, SyntaxError> {
    let root = parse(text)?;
    match root.kind {
        Kind::Object(_) => Ok(root),
        _ => Err(parse::error(text, root.span.start, "the file must hold an object: { … }")),
    }
}

/// The object or array that a place is in, if it exists.
fn container<'a>(text: &str, root: &'a Node, slot: &Slot) -> Result<Option<&'a Node>, SyntaxError> {
    let mut node = root;
    for (depth, key) in slot.path().iter().enumerate() {
        let Some(part) = node.member(key) else { return Ok(None) };
        node = &part.value;
        let is_array = matches!(slot, Slot::Element { .. }) && depth + 1 == slot.path().len();
        match (&node.kind, is_array) {
            (Kind::Object(_), false) | (Kind::Array(_), true) => {}
            (_, true) => {
                return Err(parse::error(text, node.span.start, &format!("{key:?} must be an array: [ … ]")));
            }
            (_, false) => {
                return Err(parse::error(
                    text,
                    node.span.start,
                    &format!("{key:?} must be an object: {{ … }}"),
                ));
            }
        }
    }
    Ok(Some(node))
}

fn find<'a>(text: &str, root: &'a Node, slot: &Slot) -> Result<Option<&'a Part>, SyntaxError> {
    let container = container(text, root, slot)?;
    Ok(container.and_then(|node| node.parts().iter().find(|part| slot.is(part))))
}

impl Slot {
    /// The keys from the top level to the object or array that the place is in.
    fn path(&self) -> &[&'static str] {
        match self {
            Self::Member { path, .. } => path,
            Self::Element { array, .. } => std::slice::from_ref(array),
        }
    }

    fn is(&self, part: &Part) -> bool {
        match self {
            Self::Member { name, .. } => part.key.as_deref() == Some(name),
            Self::Element { id, .. } => part.value.to_json().get("id").and_then(Value::as_str) == Some(id),
        }
    }
}

/// How a text is laid out: its line breaks and its indentation.
struct Layout<'a> {
    text: &'a str,
    newline: &'static str,
    unit: &'a str,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().map(leading_space).find(|space| !space.is_empty());
        Self { text, newline, unit: indented.unwrap_or("  ") }
    }

    /// The indentation of the line with this position.
    fn indent_at(&self, position: usize) -> &'a str {
        let before = self.text.get(..position).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        leading_space(self.text.get(start..).unwrap_or_default())
    }

    /// The indentation of the parts of an object or array.
    fn child_indent(&self, container: &Node) -> String {
        let outer = self.indent_at(container.span.start);
        let last = container.parts().last().map(|part| self.indent_at(part.start));
        match last {
            Some(indent) if indent.len() > outer.len() => indent.to_owned(),
            _ => format!("{outer}{}", self.unit),
        }
    }

    fn entry(&self, entry: &Entry, indent: &str) -> String {
        let fields: Vec<(&str, &Value)> = entry.iter().map(|(key, value)| (*key, value)).collect();
        self.object(&fields, indent)
    }

    fn object(&self, fields: &[(&str, &Value)], indent: &str) -> String {
        let (newline, inner) = (self.newline, format!("{indent}{}", self.unit));
        let field = |(key, value): &(&str, &Value)| {
            let value = match value {
                Value::Object(map) => {
                    let fields: Vec<(&str, &Value)> =
                        map.iter().map(|(key, value)| (key.as_str(), value)).collect();
                    self.object(&fields, &inner)
                }
                Value::Array(values) => {
                    let values: Vec<String> = values.iter().map(Value::to_string).collect();
                    format!("[{}]", values.join(", "))
                }
                other => other.to_string(),
            };
            format!("{inner}{}: {value}", Value::from(*key))
        };
        let fields: Vec<String> = fields.iter().map(field).collect();
        format!("{{{newline}{}{newline}{indent}}}", fields.join(&format!(",{newline}")))
    }
}

fn leading_space(line: &str) -> &str {
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..length).unwrap_or_default()
}
