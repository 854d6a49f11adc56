//! A test set in the BEIR layout: a folder with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use super::{Expected, Question, Set, SetError};
use crate::{
    chunk,
    filter::Filter,
    page::{Facts, Kind, Page},
};

/// The source of all pages of a test set.
pub const SOURCE: &str = "eval";

/// Maximum length of a line, in bytes.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;

/// A test set with its corpus.
#[derive(Debug, Clone, PartialEq)]
pub struct Beir {
    /// The queries that have relevance judgements.
    pub set: Set,
    /// The corpus.
    pub pages: Vec<Page>,
    /// Hash of the corpus; a different corpus needs a different index.
    pub hash: String,
}

#[derive(Deserialize)]
struct Document {
    _id: Id,
    #[serde(default)]
    title: Option<String>,
    text: String,
}

#[derive(Deserialize)]
struct QueryLine {
    _id: Id,
    text: String,
}

/// Some test sets use numeric ids.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(i64),
}

impl Id {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Whether a folder has the BEIR layout.
pub fn is_set(folder: &Path) -> bool {
    folder.join("corpus.jsonl").is_file()
}

/// Reads a test set from a folder. Blocks.
pub fn read(folder: &Path) -> Result<Beir, SetError> {
    let name =
        folder.file_name().map_or_else(|| "set".to_owned(), |name| name.to_string_lossy().into_owned());
    let mut digest = Sha256::new();
    let (mut pages, mut ids) = (Vec::new(), HashSet::new());
    each_json_line::<Document>(&folder.join("corpus.jsonl"), |place, line, document| {
        digest.update(line);
        digest.update([0]);
        let page = page(document);
        if !ids.insert(page.facts.id.clone()) {
            let message = format!("there are two documents with the _id {:?}; leave one out", page.facts.id);
            return Err(SetError::new(place, message));
        }
        pages.push(page);
        Ok(())
    })?;
    let mut answers = judgements(&relevance_file(folder)?, &ids)?;
    let mut questions = Vec::new();
    each_json_line::<QueryLine>(&folder.join("queries.jsonl"), |_, _, query| {
        let id = query._id.text();
        // `queries.jsonl` also has queries of other splits, without judgements here.
        if let Some(grades) = answers.remove(&id) {
            let expected = Expected::Graded(grades);
            questions.push(Question { id, text: query.text, filter: Filter::default(), expected });
        }
        Ok(())
    })?;
    if questions.is_empty() {
        let message = "no query has an answer in the qrels; check that their ids are the same";
        return Err(SetError::new("queries.jsonl", message));
    }
    let hash = const_hex::encode(digest.finalize().first_chunk::<6>().copied().unwrap_or_default());
    Ok(Beir { set: Set { name, questions }, pages, hash })
}

fn page(document: Document) -> Page {
    let title = document.title.unwrap_or_default();
    let kind = Kind::guess(&document.text);
    // The version covers the chunks, so that a change of the chunker re-indexes the page.
    let mut digest = Sha256::new();
    digest.update(title.as_bytes());
    for chunk in chunk::chunks(kind, &document.text) {
        digest.update([0]);
        digest.update(chunk.heading.as_bytes());
        digest.update([0]);
        digest.update(chunk.text.as_bytes());
    }
    let version = const_hex::encode(digest.finalize());
    let facts = Facts {
        id: document._id.text(),
        content_type: "document".to_owned(),
        kind,
        title,
        description: String::new(),
        // There are no files. Indexing the id as a path would change the ranking by chance.
        path: String::new(),
        url: None,
        commit_sha: version.clone(),
        synced_at: Timestamp::UNIX_EPOCH,
        group: None,
        release: None,
        status: None,
        tags: Vec::new(),
        date: None,
        language: None,
        aliases: Vec::new(),
    };
    Page { facts, version, body: document.text, about: String::new(), first_line: 1 }
}

fn relevance_file(folder: &Path) -> Result<PathBuf, SetError> {
    let places = ["qrels.tsv", "qrels/test.tsv", "qrels/dev.tsv"].map(|name| folder.join(name));
    places.into_iter().find(|file| file.is_file()).ok_or_else(|| {
        SetError::new(
            "qrels.tsv",
            "is missing; write lines of query-id, corpus-id and score, with tabs between",
        )
    })
}

/// Parses relevance judgements: query id to document ids and grades.
fn judgements(file: &Path, ids: &HashSet<String>) -> Result<HashMap<String, HashMap<String, u32>>, SetError> {
    let mut answers: HashMap<String, HashMap<String, u32>> = HashMap::new();
    each_line(file, |number, line| {
        let place = || format!("{}:{number}", file_name(file));
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        // The TREC layout has an unused second column.
        let ([query, document, score] | [query, _, document, score]) = *fields.as_slice() else {
            let message = "is not query-id, corpus-id and score; put tabs between the three";
            return Err(SetError::new(place(), message));
        };
        let Ok(score) = score.parse::<i64>() else {
            if number == 1 {
                return Ok(());
            }
            return Err(SetError::new(place(), format!("the score {score:?} is not a whole number")));
        };
        if score > 0 && !ids.contains(document) {
            let message = format!("there is no document {document:?} in corpus.jsonl");
            return Err(SetError::new(place(), message));
        }
        if score > 0 {
            let grade = u32::try_from(score).unwrap_or(u32::MAX);
            answers.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
        }
        Ok(())
    })?;
    Ok(answers)
}

/// Calls `take` for each JSON line, with its position.
fn each_json_line<T: DeserializeOwned>(
    file: &Path,
    mut take: impl FnMut(String, &str, T) -> Result<(), SetError>,
) -> Result<(), SetError> {
    each_line(file, |number, line| {
        let place = format!("{}:{number}", file_name(file));
        match serde_json::from_str(line) {
            Ok(value) => take(place, line, value),
            Err(error) => Err(SetError::new(place, format!("invalid line: {error}"))),
        }
    })
}

/// Calls `take` for each non-empty line, with its 1-based number.
fn each_line(file: &Path, mut take: impl FnMut(usize, &str) -> Result<(), SetError>) -> Result<(), SetError> {
    let fault = |message: String| SetError::new(file_name(file), message);
    let opened = File::open(file).map_err(|error| fault(format!("can't be read: {error}")))?;
    let mut reader = BufReader::new(opened);
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE_BYTES).read_line(&mut line);
        let read = read.map_err(|error| fault(format!("line {number} can't be read: {error}")))?;
        if read == 0 {
            break;
        }
        if read as u64 == MAX_LINE_BYTES {
            return Err(fault(format!("line {number} is longer than {MAX_LINE_BYTES} bytes")));
        }
        let text = line.trim();
        if !text.is_empty() {
            take(number, text)?;
        }
    }
    Ok(())
}

fn file_name(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
