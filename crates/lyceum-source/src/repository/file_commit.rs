//! A commit with one new file, on a branch of its own, pushed by Git: drafts for servers without pull requests.

use gix::{
    ObjectId, Repository as Store,
    objs::{
        Commit, Tree,
        tree::{Entry, EntryKind},
    },
};
use lyceum_model::RelPath;

use super::{CloneDir, tree::damaged};
use crate::Error;

/// A file to be committed and pushed. Author and date are given, so that the same arguments make the same commit.
#[derive(Debug, Clone)]
pub struct FileCommit {
    /// The branch to push to.
    pub branch: String,
    /// The commit that it is based on.
    pub base: String,
    /// The file, which must not exist in the base.
    pub path: RelPath,
    /// Its text.
    pub text: String,
    /// The message.
    pub message: String,
    /// Name and e-mail address of author and committer.
    pub author: (&'static str, &'static str),
    /// The date, in seconds since 1970.
    pub seconds: i64,
}

/// How committing a file ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The branch is at this commit.
    Commit(String),
    /// The base has such a file already.
    FileExists,
    /// The clone no longer has the base.
    BaseGone,
}

impl FileCommit {
    /// Writes the objects into the clone, which the caller has locked. Blocks.
    pub(super) fn write(&self, clone_dir: &CloneDir) -> Result<Pushed, Error> {
        let options = gix::open::Options::isolated().open_path_as_is(true).with(gix::sec::Trust::Full);
        let store = options.open(clone_dir.folder()).map_err(damaged)?.to_thread_local();
        let base = ObjectId::from_hex(self.base.as_bytes()).map_err(damaged)?;
        let Some(commit) = store.try_find_object(base).map_err(damaged)? else { return Ok(Pushed::BaseGone) };
        let tree = commit.try_into_commit().map_err(damaged)?.tree_id().map_err(damaged)?.detach();
        let blob = store.write_blob(self.text.as_bytes()).map_err(damaged)?.detach();
        let parts: Vec<&str> = self.path.as_str().split('/').collect();
        let Some(tree) = with_file(&store, Some(tree), &parts, blob)? else { return Ok(Pushed::FileExists) };
        let author = gix::actor::Signature {
            name: self.author.0.into(),
            email: self.author.1.into(),
            time: gix::date::Time::new(self.seconds, 0),
        };
        let commit = Commit {
            tree,
            parents: [base].into_iter().collect(),
            committer: author.clone(),
            author,
            encoding: None,
            message: self.message.as_str().into(),
            extra_headers: Vec::new(),
        };
        Ok(Pushed::Commit(store.write_object(&commit).map_err(damaged)?.to_string()))
    }
}

/// Writes a tree with the file added; `None` if its place is taken. Nesting is bounded by the length of a `RelPath`.
fn with_file(
    store: &Store,
    tree: Option<ObjectId>,
    parts: &[&str],
    blob: ObjectId,
) -> Result<Option<ObjectId>, Error> {
    let mut entries: Vec<Entry> = match tree {
        Some(tree) => {
            let tree = store.find_tree(tree).map_err(damaged)?;
            tree.iter()
                .map(|entry| entry.map(|entry| entry.inner.into()))
                .collect::<Result<_, _>>()
                .map_err(damaged)?
        }
        None => Vec::new(),
    };
    let Some((first, rest)) = parts.split_first() else { return Ok(None) };
    let found = entries.iter().position(|entry| entry.filename == *first);
    let present = found.map(|position| entries.remove(position));
    let (mode, oid) = match (present, rest) {
        (None, []) => (EntryKind::Blob, blob),
        (Some(folder), [_, ..]) if folder.mode.is_tree() => {
            let Some(below) = with_file(store, Some(folder.oid), rest, blob)? else { return Ok(None) };
            (EntryKind::Tree, below)
        }
        (None, [_, ..]) => {
            let Some(below) = with_file(store, None, rest, blob)? else { return Ok(None) };
            (EntryKind::Tree, below)
        }
        (Some(_), _) => return Ok(None),
    };
    entries.push(Entry { mode: mode.into(), filename: (*first).into(), oid });
    entries.sort();
    Ok(Some(store.write_object(&Tree { entries }).map_err(damaged)?.detach()))
}
