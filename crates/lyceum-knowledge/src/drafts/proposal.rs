//! A proposal: the file that a draft adds, checked against the ontology. Pure.
//!
//! Path and frontmatter are written here, never by the caller: the file is markdown in a folder of the ontology, and
//! says that a model wrote it.

use lyceum_content::{
    document::{self, Publishing},
    knowledge::slug,
    ontology::Ontology,
};
use lyceum_model::{ErrorCode, RelPath};
use lyceum_tools::Error;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{DraftOptions, text::hidden_character};

/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 150;

/// Maximum size of a file: people have to read it before they approve it.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Maximum length of a file name, without its extension.
const MAX_SLUG_BYTES: usize = 60;

/// Length of an id, in hex digits.
const ID_DIGITS: usize = 16;

/// Fields of the frontmatter that are written here.
const OWN_FIELDS: [&str; 6] = ["type", "title", "date", "publish", "draft", "writtenBy"];

/// A document to be proposed.
#[derive(Debug)]
pub(crate) struct NewDocument<'a> {
    /// The tool that proposes it.
    pub tool: &'static str,
    /// What makes two proposals the same.
    pub identity: Value,
    /// Its type.
    pub content_type: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Further fields of its frontmatter.
    pub fields: &'a Map<String, Value>,
    /// The text after the frontmatter.
    pub content: &'a str,
    /// Whether it is published as soon as it is merged.
    pub is_published: bool,
}

/// A file that a person can approve.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    /// The id of the draft.
    pub id: String,
    /// The tool that proposes it.
    pub tool: &'static str,
    /// Its type.
    pub content_type: String,
    /// Its title.
    pub title: String,
    /// The file.
    pub path: RelPath,
    /// Its whole text.
    pub text: String,
}

impl Proposal {
    /// Checks a document and writes its file, dated `today`.
    pub(crate) fn new(
        ontology: &Ontology,
        options: &DraftOptions,
        document: &NewDocument<'_>,
        today: &str,
    ) -> Result<Self, Error> {
        let title = document.title.trim();
        check_title(title)?;
        check_type(ontology, document.content_type)?;
        check_fields(document.fields)?;
        let content = document.content.replace("\r\n", "\n");
        check_text("content", &content)?;
        if content.trim_start().starts_with("---") {
            return Err(invalid(
                "content",
                "begins with frontmatter or a rule; pass fields in `fields`, and begin with text",
            ));
        }
        let id = id(options.repository(), document.tool, &document.identity);
        let path = path(ontology, options, document.content_type, title, &id)?;
        let text = file(document, title, &content, today);
        if text.len() > MAX_TEXT_BYTES {
            return Err(invalid("content", "the file is larger than 64 KiB; split it"));
        }
        check_file(ontology, document.content_type, &path, &text)?;
        let (tool, content_type) = (document.tool, document.content_type.to_owned());
        Ok(Self { id, tool, content_type, title: title.to_owned(), path, text })
    }

    /// The hash of the text.
    pub(crate) fn sha256(&self) -> String {
        sha256(&self.text)
    }
}

/// The hash of a text, in hex.
pub(super) fn sha256(text: &str) -> String {
    const_hex::encode(Sha256::digest(text.as_bytes()))
}

fn id(repository: &str, tool: &str, identity: &Value) -> String {
    sha256(&json!([repository, tool, identity]).to_string()).chars().take(ID_DIGITS).collect()
}

fn check_title(title: &str) -> Result<(), Error> {
    check_text("title", title)?;
    if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
        return Err(invalid("title", "must have 1 to 150 characters"));
    }
    if title.contains(['\n', '\t']) || title.contains("://") {
        return Err(invalid("title", "must be one line without a URL"));
    }
    Ok(())
}

fn check_type(ontology: &Ontology, name: &str) -> Result<(), Error> {
    if ontology.get(name).is_some_and(|known| !known.parent_only) {
        return Ok(());
    }
    let names = ontology.types().filter(|one| !one.parent_only).map(|one| one.name.as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    Err(invalid("contentType", &format!("no documents have the type {name:?}; choose one of {names}")))
}

fn check_fields(fields: &Map<String, Value>) -> Result<(), Error> {
    for (name, value) in fields {
        if OWN_FIELDS.contains(&name.as_str()) {
            return Err(invalid("fields", &format!("{name} is written by the server; leave it out")));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
            return Err(invalid(
                "fields",
                "names of fields must consist of 1 to 64 letters, digits, _ and -",
            ));
        }
        check_texts(&format!("fields.{name}"), value)?;
    }
    Ok(())
}

/// Checks all text of a field. Arguments are nested only as deeply as the JSON parser allows.
fn check_texts(field: &str, value: &Value) -> Result<(), Error> {
    match value {
        Value::String(text) => check_text(field, text),
        Value::Array(items) => items.iter().try_for_each(|item| check_texts(field, item)),
        Value::Object(map) => map.iter().try_for_each(|(key, value)| {
            check_text(field, key)?;
            check_texts(field, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn check_text(field: &str, text: &str) -> Result<(), Error> {
    match hidden_character(text) {
        None => Ok(()),
        Some(c) => {
            let code = u32::from(c);
            Err(invalid(field, &format!("contains the hidden or control character U+{code:04X}; remove it")))
        }
    }
}

/// The file of a document: a slug of its title, in the folder of its type.
fn path(
    ontology: &Ontology,
    options: &DraftOptions,
    content_type: &str,
    title: &str,
    id: &str,
) -> Result<RelPath, Error> {
    let folder = ontology.folder_for(content_type).unwrap_or(&options.folder);
    let slug = slug(title).replace(['_', '.'], "-");
    let slug: String = slug.chars().take(MAX_SLUG_BYTES).collect();
    let short_id: String = id.chars().take(8).collect();
    let name = match slug.trim_matches('-') {
        "" => format!("{content_type}-{short_id}"),
        // Such files stand for their folder.
        name @ ("index" | "readme") => format!("{name}-{short_id}"),
        name => name.to_owned(),
    };
    let path = RelPath::parse(&format!("{folder}/{name}.md")).map_err(Error::internal)?;
    if path.as_str().split('/').any(|part| part.starts_with('.')) {
        let message =
            format!("documents of the type {content_type:?} are in a hidden folder; drafts can't be");
        return Err(Error::Failed { code: ErrorCode::ValidationError, message });
    }
    Ok(path)
}

/// The whole text. Values are written as JSON, which is YAML.
fn file(document: &NewDocument<'_>, title: &str, content: &str, today: &str) -> String {
    let mut text = format!(
        "---\ntype: {}\ntitle: {}\ndate: {today}\npublish: {}\ndraft: {}\nwrittenBy: model\n",
        Value::from(document.content_type),
        Value::from(title),
        document.is_published,
        !document.is_published,
    );
    for (name, value) in document.fields {
        text.push_str(&format!("{name}: {value}\n"));
    }
    text.push_str("---\n\n");
    text.push_str(content.trim());
    text.push('\n');
    text
}

/// Reads the file as the server will, and refuses what it would report.
fn check_file(ontology: &Ontology, content_type: &str, path: &RelPath, text: &str) -> Result<(), Error> {
    let read = document::read(ontology, Publishing::Frontmatter, path, text)
        .map_err(|fault| invalid("fields", &fault.to_string()))?;
    if read.content_type != content_type {
        return Err(Error::internal("a draft was read back with another type"));
    }
    if read.faults.is_empty() {
        return Ok(());
    }
    let faults = read.faults.iter().map(|fault| format!("{} {}", fault.field, fault.message));
    Err(invalid("fields", &faults.collect::<Vec<_>>().join("; ")))
}

fn invalid(field: &str, message: &str) -> Error {
    Error::invalid(format!("arguments.{field}"), format!("{field}: {message}"))
}
