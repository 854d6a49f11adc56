//! The eight tools, a file each.

mod get_agent;
mod get_doc;
mod get_skill;
mod get_skill_file;
mod list_agents;
mod list_docs;
mod list_skills;
mod search_library;

use std::sync::Arc;

use lyceum_content::library::parse_parameter;
use lyceum_model::{ErrorCode, RelPath};
use lyceum_tools::{Call, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use get_agent::{GetAgent, read_agent};
pub(crate) use get_doc::{GetDoc, read_page};
pub(crate) use get_skill::GetSkill;
pub(crate) use get_skill_file::GetSkillFile;
pub(crate) use list_agents::ListAgents;
pub(crate) use list_docs::ListDocs;
pub(crate) use list_skills::ListSkills;
pub(crate) use search_library::SearchLibrary;

use crate::{
    Indexed, Indexes, Library, PartKind, PartOptions, Reader,
    error::{ReadFailure, invalid_path},
    read::{Found, Freshness, read},
};

/// Maximum number of entries in one answer.
const MAX_ENTRIES: usize = 1000;

/// Maximum number of similar names to suggest, and how similar they must be, from 0 to 1.
const MAX_SUGGESTIONS: usize = 3;
const MIN_SIMILARITY: f64 = 0.8;

/// Arguments of a list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageArgs {
    /// Number of entries to skip. Default: 0.
    #[serde(default)]
    offset: usize,
    /// Maximum number of entries. Default: 1000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

impl PageArgs {
    /// The entries that are asked for.
    fn of<T: Clone>(&self, entries: &[T]) -> Vec<T> {
        let limit = self.limit.unwrap_or(MAX_ENTRIES).min(MAX_ENTRIES);
        entries.iter().skip(self.offset).take(limit).cloned().collect()
    }
}

/// Arguments that name one entry.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NameArgs {
    /// Its name, as listed.
    name: String,
    /// Whether to read the newest version even if one from the last ten minutes is cached. Default: false.
    #[serde(default)]
    skip_cache: bool,
}

/// A text file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TextOutput {
    /// The name.
    name: String,
    /// The text.
    content: String,
    /// Path in the repository.
    path: String,
    /// Git's id of this version of the file.
    sha: String,
    /// The commit that this version was seen at; absent if it is newer than the lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Link to the file at that commit, or else on its branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl TextOutput {
    fn new(name: String, found: Found) -> Self {
        let (content, path, sha) = (text(&found), found.path.to_string(), found.file.sha.clone());
        Self { name, content, path, sha, commit: found.commit, url: found.url }
    }
}

/// The text of a file; bytes that are not UTF-8 are replaced.
fn text(found: &Found) -> String {
    String::from_utf8_lossy(&found.file.bytes).into_owned()
}

impl Freshness {
    fn of(skip_cache: bool) -> Self {
        if skip_cache { Self::Now } else { Self::Cached }
    }
}

/// One part of the library during a call.
struct Open<'a, T> {
    library: &'a Library,
    options: &'a PartOptions,
    /// Its index; `None` if it is not there yet and not needed.
    indexed: Option<Arc<Indexed<T>>>,
}

impl<'a, T> Open<'a, T> {
    /// Opens a part. Waits for its index if contents can't be found or read without it.
    async fn part(
        library: &'a Library,
        kind: PartKind,
        of: impl Fn(&Indexes) -> Option<Arc<Indexed<T>>>,
    ) -> Result<Self, Error> {
        let options =
            library.parts.get(&kind).ok_or_else(|| Error::internal("the part is not configured"))?;
        let needs_index = options.path.is_none() || matches!(options.reader, Reader::Server { .. });
        let now = library.now(&of);
        let indexed = match now {
            None if needs_index => Some(library.index(kind, of).await?),
            now => now,
        };
        Ok(Self { library, options, indexed })
    }

    /// Parses a name or path of the caller.
    fn parameter(&self, field: &str, text: &str) -> Result<RelPath, Error> {
        parse_parameter(text).map_err(|error| invalid_path(&self.options.reader, field, text, error))
    }

    /// A path below a folder of the repository, or below its root.
    fn below(&self, field: &str, folder: Option<&RelPath>, text: &str) -> Result<RelPath, Error> {
        let refuse = |why: &dyn std::fmt::Display| invalid_path(&self.options.reader, field, text, why);
        let path = RelPath::parse(text).map_err(|error| refuse(&error))?;
        match folder {
            None => Ok(path),
            Some(folder) => folder.join(&path).ok_or_else(|| refuse(&"it is too long")),
        }
    }

    /// Refuses what is not in the index, unless GitHub decides with the caller's token: of the server's copy, only what is
    /// listed is served, not the rest of the repository.
    fn check_unlisted(&self, path: &RelPath, hint: impl Fn() -> String) -> Result<(), Error> {
        match &self.options.reader {
            Reader::Caller { .. } => Ok(()),
            reader @ Reader::Server { .. } => Err(ReadFailure::Missing.into_error(reader, path, &hint())),
        }
    }

    /// Reads the first of these paths that is a file. `hint` says what to do if none is.
    async fn read(
        &self,
        call: &Call,
        paths: Vec<RelPath>,
        freshness: Freshness,
        hint: impl Fn() -> String,
    ) -> Result<Found, Error> {
        let snapshot = self.indexed.as_ref().map(|indexed| indexed.snapshot.clone());
        let (reader, first) = (&self.options.reader, paths.first().cloned());
        let found = read(&self.library.cache, reader, call.caller(), snapshot, paths, freshness).await;
        let found = found.map_err(|failure| match first {
            Some(path) => failure.into_error(reader, &path, &hint()),
            None => Error::Failed { code: ErrorCode::NotFound, message: ReadFailure::Missing.to_string() },
        })?;
        Ok(self.linked(found))
    }

    /// The file with its link: at the commit of the server's copy if that has this version of it, else on the branch.
    fn linked(&self, found: Found) -> Found {
        let indexed = self.indexed.as_ref();
        let is_there = |indexed: &&Arc<Indexed<T>>| match &self.options.reader {
            Reader::Server { .. } => true,
            Reader::Caller { .. } => {
                let known = indexed.snapshot.files().get(&found.path);
                known.and_then(|file| file.stamp.durable()).as_ref() == Some(&found.file.sha)
            }
        };
        let commit = indexed.filter(is_there).and_then(|indexed| indexed.commit.clone());
        let at = commit.as_deref().or_else(|| self.options.reader.branch());
        let url = at.and_then(|at| self.options.link(at, &found.path));
        Found { commit, url, ..found }
    }
}

/// What to do if nothing has that name: the most similar names, and the tool that lists all.
fn hint<'a>(name: &str, names: impl Iterator<Item = &'a str>, list: &str) -> String {
    match similar(name, names).as_slice() {
        [] => format!("{list} lists all"),
        some => format!("did you mean {}? {list} lists all", some.join(", ")),
    }
}

/// The most similar names, best first.
fn similar<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut close: Vec<(f64, &str)> = names
        .map(|known| (similarity(name, known), known))
        .filter(|(similarity, known)| *similarity >= MIN_SIMILARITY && *known != name)
        .collect();
    close.sort_by(|(one, first), (other, second)| other.total_cmp(one).then(first.cmp(second)));
    close.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
}

/// How similar two names are, from 0 to 1. Two letters in the wrong order, or one too many, are a typo.
fn similarity(name: &str, known: &str) -> f64 {
    let is_typo = name.chars().count() > 2 && strsim::damerau_levenshtein(name, known) <= 1;
    if is_typo { 0.95 } else { strsim::jaro_winkler(name, known) }
}
