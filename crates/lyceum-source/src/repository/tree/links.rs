//! Links of a Git tree, followed inside the tree.

use std::{collections::BTreeMap, ops::Bound};

use lyceum_model::RelPath;

use crate::{FileMeta, Reason};

/// The longest target that is looked at.
pub(super) const MAX_TARGET_BYTES: u64 = 1024;

/// How many links are followed one after the other.
const MAX_LINK_HOPS: usize = 8;

/// The links of a tree and where they lead to.
#[derive(Default)]
pub(super) struct Links(BTreeMap<RelPath, Vec<u8>>);

impl Links {
    pub(super) fn add(&mut self, path: RelPath, target: Vec<u8>) {
        self.0.insert(path, target);
    }

    /// What each link stands for, or why it stands for nothing.
    pub(super) fn resolve(
        &self,
        files: &BTreeMap<RelPath, FileMeta>,
    ) -> Vec<(RelPath, Result<FileMeta, Reason>)> {
        let resolved = self.0.keys().map(|link| (link.clone(), self.follow(link, files)));
        resolved.collect()
    }

    fn follow(&self, link: &RelPath, files: &BTreeMap<RelPath, FileMeta>) -> Result<FileMeta, Reason> {
        // The parts that are still to go, the next one last, and those that were gone.
        let mut ahead: Vec<&str> = link.as_str().rsplit('/').collect();
        let mut here: Vec<&str> = Vec::new();
        let mut hops = 0;
        while let Some(part) = ahead.pop() {
            match part {
                "" | "." => continue,
                ".." => {
                    here.pop().ok_or(Reason::Leaves)?;
                    continue;
                }
                name => here.push(name),
            }
            if let Some(target) = self.0.get(here.join("/").as_str()) {
                hops += 1;
                let target = std::str::from_utf8(target).map_err(|_| Reason::Leaves)?;
                if hops > MAX_LINK_HOPS || target.is_empty() || target.starts_with('/') {
                    return Err(Reason::Leaves);
                }
                here.pop();
                ahead.extend(target.rsplit('/'));
            }
        }
        let path = here.join("/");
        if let Some(file) = files.get(path.as_str()) {
            return Ok(file.clone());
        }
        let below = format!("{path}/");
        let after = files.range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded)).next();
        let is_folder = after.is_some_and(|(file, _)| file.as_str().starts_with(&below));
        Err(if is_folder { Reason::LinkToFolder } else { Reason::Leaves })
    }
}
