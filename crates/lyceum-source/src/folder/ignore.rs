//! `.gitignore` rules with Git's semantics: the nearest file takes precedence, and in it the last matching line.

use std::{
    borrow::Cow,
    fs::File,
    io::Read,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    sync::Arc,
};

use gix::glob::{Pattern, pattern::Case, wildmatch::Mode};
use rustix::{
    fs::{FileType, OFlags, fstat, openat},
    io::Errno,
};

use super::exclusion::Kind;

/// File name of the rules.
pub(super) const NAME: &str = ".gitignore";

/// Maximum size of a `.gitignore` file.
const MAX_IGNORE_FILE_BYTES: u64 = 256 * 1024;

/// The rules of one file, linked to those of the folders above.
#[derive(Debug)]
pub(super) struct Rules {
    location: Location,
    patterns: Vec<Pattern>,
    above: Option<Arc<Self>>,
}

/// Location of a `.gitignore` file.
#[derive(Debug)]
enum Location {
    /// In the source: real path of its folder, empty for the root.
    Inside(String),
    /// Above the source: path from its folder to the root of the source.
    Above(String),
}

impl Rules {
    /// Adds the rules of a folder of the source, if any. Fails if they can't be read.
    pub(super) fn of_folder(
        folder: impl AsFd,
        real: &str,
        above: Option<Arc<Self>>,
    ) -> Result<Option<Arc<Self>>, String> {
        // Git doesn't follow symlinks here either.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(folder, NAME, flags, rustix::fs::Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::LOOP) => return Ok(above),
            Err(errno) => return Err(std::io::Error::from(errno).kind().to_string()),
        };
        let patterns = parse(&read(file)?);
        Ok(add(Location::Inside(real.to_owned()), patterns, above))
    }

    /// The rules above the root of a source that is inside a working copy.
    ///
    /// A file that ignores the root itself, or one of its ancestors, is skipped: the operator chose to serve it.
    pub(super) fn above_root(root: &Path) -> Option<Arc<Self>> {
        let root = root.canonicalize().ok()?;
        let is_top = |folder: &&Path| folder.join(".git").exists();
        let top = root.ancestors().find(is_top)?;
        let mut folders: Vec<&Path> =
            root.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
        folders.reverse();
        folders.into_iter().fold(None, |above, folder| {
            let prefix = root.strip_prefix(folder).ok().and_then(Path::to_str);
            let text = File::open(folder.join(NAME)).ok().and_then(|file| read(file.into()).ok());
            let (Some(prefix), Some(text)) = (prefix, text) else { return above };
            let patterns = parse(&text);
            let parts = prefix.match_indices('/').filter_map(|(at, _)| prefix.get(..at)).chain([prefix]);
            let ignores_root =
                |path| last_match(&patterns, path, Kind::Folder).is_some_and(|one| !one.is_negative());
            if parts.into_iter().any(ignores_root) {
                return above;
            }
            add(Location::Above(prefix.to_owned()), patterns, above)
        })
    }

    /// The pattern that ignores a real path, with its file; `None` if the path is not ignored.
    pub(super) fn matching_pattern(&self, real: &str, kind: Kind) -> Option<String> {
        let mut at = Some(self);
        while let Some(rules) = at {
            let path = match &rules.location {
                Location::Inside(folder) if folder.is_empty() => Some(Cow::Borrowed(real)),
                Location::Inside(folder) => {
                    real.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).map(Cow::Borrowed)
                }
                Location::Above(prefix) => Some(Cow::Owned(format!("{prefix}/{real}"))),
            };
            if let Some(pattern) = path.and_then(|path| last_match(&rules.patterns, &path, kind)) {
                return (!pattern.is_negative()).then(|| format!("{pattern} in {}", rules.location.file()));
            }
            at = rules.above.as_deref();
        }
        None
    }
}

impl Location {
    fn file(&self) -> String {
        match self {
            Self::Inside(folder) if folder.is_empty() => NAME.to_owned(),
            Self::Inside(folder) => format!("{folder}/{NAME}"),
            Self::Above(prefix) => format!("{}{NAME}", "../".repeat(prefix.split('/').count())),
        }
    }
}

fn add(location: Location, patterns: Vec<Pattern>, above: Option<Arc<Rules>>) -> Option<Arc<Rules>> {
    if patterns.is_empty() { above } else { Some(Arc::new(Rules { location, patterns, above })) }
}

/// The last matching pattern.
fn last_match<'a>(patterns: &'a [Pattern], path: &str, kind: Kind) -> Option<&'a Pattern> {
    let name = path.rfind('/').map(|at| at + 1);
    patterns.iter().rev().find(|pattern| {
        let is_folder = Some(kind == Kind::Folder);
        pattern.matches_repo_relative_path(
            path.into(),
            name,
            is_folder,
            Case::Sensitive,
            Mode::NO_MATCH_SLASH_LITERAL,
        )
    })
}

fn read(file: OwnedFd) -> Result<Vec<u8>, String> {
    let is_file =
        fstat(&file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    if !is_file {
        return Ok(Vec::new());
    }
    let mut text = Vec::new();
    let read = File::from(file).take(MAX_IGNORE_FILE_BYTES + 1).read_to_end(&mut text);
    read.map_err(|error| error.kind().to_string())?;
    if text.len() as u64 > MAX_IGNORE_FILE_BYTES {
        Err(format!("{NAME} is larger than 256 KiB"))
    } else {
        Ok(text)
    }
}

fn parse(text: &[u8]) -> Vec<Pattern> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = lines.filter(|line| !line.starts_with(b"#")).map(without_trailing_spaces);
    lines.filter_map(Pattern::from_bytes).collect()
}

/// Trailing spaces are ignored unless escaped by a backslash.
fn without_trailing_spaces(mut line: &[u8]) -> &[u8] {
    while let Some(shorter) = line.strip_suffix(b" ").filter(|shorter| !shorter.ends_with(b"\\")) {
        line = shorter;
    }
    line
}

#[cfg(test)]
mod tests;
