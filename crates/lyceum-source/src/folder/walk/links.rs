//! Symlinks found on a walk: resolution and checks of the target.

use std::{fs, sync::Arc};

use rustix::fs::{AtFlags, FileType, OFlags, Stat, statat};

use super::{FolderRules, PendingFolder, Walk, file_type, kind_of, verdict};
use crate::{
    Reason,
    folder::{
        beneath,
        chain::Chain,
        exclusion::{Kind, Verdict, is_always_excluded},
        ignore::Rules,
    },
};

impl Walk<'_> {
    pub(super) fn link(
        &mut self,
        dir: &PendingFolder,
        rules: Option<&Arc<Rules>>,
        listed: String,
        link: &str,
    ) {
        let target = self.resolve(link);
        let kind = target.as_ref().map_or(Kind::File, |(_, stat)| kind_of(file_type(stat)));
        // To Git a symlink is a file, whatever its target.
        let ignored = rules.and_then(|rules| rules.matching_pattern(link, Kind::File)).map(Reason::Ignored);
        match (verdict(link, kind, None), ignored) {
            (Verdict::SilentlyExcluded, _) => return,
            (Verdict::Excluded(reason), _) | (Verdict::Included, Some(reason)) => {
                return self.exclude(&listed, kind, reason);
            }
            (Verdict::Included, None) => {}
        }
        let Some((real, stat)) = target else {
            return self.exclude(&listed, Kind::File, Reason::Leaves);
        };
        // An excluded target stays excluded through a symlink.
        let rules = match self.rules_of(real.rsplit_once('/').map_or("", |(folder, _)| folder)) {
            Ok(rules) => rules,
            Err(reason) => return self.exclude(&listed, kind, reason),
        };
        match verdict(&real, kind, rules.as_ref()) {
            Verdict::Included => {}
            Verdict::SilentlyExcluded => return self.exclude(&listed, kind, Reason::Hidden),
            Verdict::Excluded(reason) => return self.exclude(&listed, kind, reason),
        }
        match file_type(&stat) {
            FileType::RegularFile => self.file(&listed, Some(real), &stat),
            FileType::Directory => {
                let above = dir.above.clone().or_else(|| Chain::of_parents(&dir.real));
                let above = Chain::push(dir.real.clone(), above);
                if above.contains(&real) {
                    return self.exclude(&listed, kind, Reason::Leaves);
                }
                self.pending.push(PendingFolder { listed, real, above: Some(above), rules });
            }
            _ => self.exclude(&listed, kind, Reason::Special),
        }
    }

    /// The `.gitignore` rules that apply in a real folder, collected from the root down.
    pub(super) fn rules_of(&mut self, real: &str) -> FolderRules {
        if let Some(known) = self.known_rules.get(real) {
            return known.clone();
        }
        let found = self.find_rules(real);
        self.known_rules.insert(real.to_owned(), found.clone());
        found
    }

    fn find_rules(&mut self, real: &str) -> FolderRules {
        let above = match real.rsplit_once('/') {
            Some((folder, _)) => self.rules_of(folder)?,
            None if real.is_empty() => self.rules_above.clone(),
            None => self.rules_of("")?,
        };
        if !real.is_empty()
            && let Verdict::Excluded(reason) = verdict(real, Kind::Folder, above.as_ref())
        {
            return Err(reason);
        }
        let path = if real.is_empty() { "." } else { real };
        let opened = beneath::open(self.root, path, OFlags::RDONLY | OFlags::DIRECTORY);
        match opened {
            Ok(at) => Rules::of_folder(at, real, above).map_err(Reason::Unreadable),
            Err(_) => Ok(above),
        }
    }

    /// Resolves a symlink to a real path relative to the root; `None` if the target is outside the source.
    fn resolve(&mut self, link: &str) -> Option<(String, Stat)> {
        let root = match &self.real_root {
            Some(root) => root,
            None => self.real_root.insert(fs::canonicalize(self.root_path).ok()?),
        };
        let target = fs::canonicalize(root.join(link)).ok()?;
        let real = target.strip_prefix(root).ok()?.to_str()?.to_owned();
        // A symlink to the root itself is a cycle.
        if real.is_empty() || real.split('/').any(|part| is_always_excluded(part.as_bytes())) {
            return None;
        }
        let (folder, name) = real.rsplit_once('/').unwrap_or((".", &real));
        let folder = beneath::open(self.root, folder, OFlags::RDONLY | OFlags::DIRECTORY).ok()?;
        let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((real, stat))
    }
}
