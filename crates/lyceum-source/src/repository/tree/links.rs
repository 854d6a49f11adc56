//! Symlinks of a Git tree, resolved inside the tree.

use std::{collections::BTreeMap, ops::Bound};

use lyceum_model::RelPath;

use crate::{FileMeta, Reason};

/// Maximum length of a target.
pub(super) const MAX_TARGET_BYTES: u64 = 1024;

/// Maximum number of symlinks followed for one path.
const MAX_LINK_HOPS: usize = 8;

/// The symlinks of a tree with their targets.
#[derive(Default)]
pub(super) struct Links(BTreeMap<RelPath, Vec<u8>>);

impl Links {
    pub(super) fn add(&mut self, path: RelPath, target: Vec<u8>) {
        self.0.insert(path, target);
    }

    /// Resolves each symlink to a file, or to the reason why it can't be.
    pub(super) fn resolve(
        &self,
        files: &BTreeMap<RelPath, FileMeta>,
    ) -> Vec<(RelPath, Result<FileMeta, Reason>)> {
        let results = self.0.keys().map(|link| (link.clone(), self.follow(link, files)));
        results.collect()
    }

    fn follow(&self, link: &RelPath, files: &BTreeMap<RelPath, FileMeta>) -> Result<FileMeta, Reason> {
        // Path components still to resolve (next one last), and those resolved.
        let mut remaining: Vec<&str> = link.as_str().rsplit('/').collect();
        let mut resolved: Vec<&str> = Vec::new();
        let mut hops = 0;
        while let Some(part) = remaining.pop() {
            match part {
                "" | "." => continue,
                ".." => {
                    resolved.pop().ok_or(Reason::Leaves)?;
                    continue;
                }
                name => resolved.push(name),
            }
            if let Some(target) = self.0.get(resolved.join("/").as_str()) {
                hops += 1;
                let target = std::str::from_utf8(target).map_err(|_| Reason::Leaves)?;
                if hops > MAX_LINK_HOPS || target.is_empty() || target.starts_with('/') {
                    return Err(Reason::Leaves);
                }
                resolved.pop();
                remaining.extend(target.rsplit('/'));
            }
        }
        let path = resolved.join("/");
        if let Some(file) = files.get(path.as_str()) {
            return Ok(file.clone());
        }
        let below = format!("{path}/");
        let after = files.range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded)).next();
        let is_folder = after.is_some_and(|(file, _)| file.as_str().starts_with(&below));
        Err(if is_folder { Reason::LinkToFolder } else { Reason::Leaves })
    }
}
