//! Links on a walk: where they lead, and whether what is there may be shown.

use std::{fs, sync::Arc};

use rustix::fs::{AtFlags, FileType, OFlags, Stat, statat};

use super::{FolderRules, PendingFolder, Walk, file_type, of_type, verdict};
use crate::{
    Reason,
    folder::{
        beneath,
        chain::Chain,
        exclusion::{Kind, Verdict, is_passed_over},
        ignore::Rules,
    },
};

impl Walk<'_> {
    pub(super) fn link(
        &mut self,
        stop: &PendingFolder,
        rules: Option<&Arc<Rules>>,
        listed: String,
        link: &str,
    ) {
        let target = self.resolve(link);
        let kind = target.as_ref().map_or(Kind::File, |(_, stat)| of_type(file_type(stat)));
        // To Git a link is a file, whatever it leads to.
        let ignored = rules.and_then(|rules| rules.line_for(link, Kind::File)).map(Reason::Ignored);
        match (verdict(link, kind, None), ignored) {
            (Verdict::PassedOver, _) => return,
            (Verdict::LeftOut(reason), _) | (Verdict::Taken, Some(reason)) => {
                return self.leave_out(&listed, kind, reason);
            }
            (Verdict::Taken, None) => {}
        }
        let Some((real, stat)) = target else {
            return self.leave_out(&listed, Kind::File, Reason::Leaves);
        };
        // What is left out where it is can't be had through a link either.
        let rules = match self.rules_of(real.rsplit_once('/').map_or("", |(folder, _)| folder)) {
            Ok(rules) => rules,
            Err(reason) => return self.leave_out(&listed, kind, reason),
        };
        match verdict(&real, kind, rules.as_ref()) {
            Verdict::Taken => {}
            Verdict::PassedOver => return self.leave_out(&listed, kind, Reason::Hidden),
            Verdict::LeftOut(reason) => return self.leave_out(&listed, kind, reason),
        }
        match file_type(&stat) {
            FileType::RegularFile => self.file(&listed, Some(real), &stat),
            FileType::Directory => {
                let above = stop.above.clone().or_else(|| Chain::of_parents(&stop.real));
                let above = Chain::put(stop.real.clone(), above);
                if above.holds(&real) {
                    return self.leave_out(&listed, kind, Reason::Leaves);
                }
                self.stops.push(PendingFolder { listed, real, above: Some(above), rules });
            }
            _ => self.leave_out(&listed, kind, Reason::Special),
        }
    }

    /// What the `.gitignore` files name in a real folder, found from the root on.
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
            && let Verdict::LeftOut(reason) = verdict(real, Kind::Folder, above.as_ref())
        {
            return Err(reason);
        }
        let place = if real.is_empty() { "." } else { real };
        let opened = beneath::open(self.root, place, OFlags::RDONLY | OFlags::DIRECTORY);
        match opened {
            Ok(at) => Rules::of_folder(at, real, above).map_err(Reason::Unreadable),
            Err(_) => Ok(above),
        }
    }

    /// Where a link leads to, from the root on and without links; nothing if that is no part of the source.
    fn resolve(&mut self, link: &str) -> Option<(String, Stat)> {
        let root = match &self.real_root {
            Some(root) => root,
            None => self.real_root.insert(fs::canonicalize(self.root_path).ok()?),
        };
        let target = fs::canonicalize(root.join(link)).ok()?;
        let real = target.strip_prefix(root).ok()?.to_str()?.to_owned();
        // A link to the root itself is a circle.
        if real.is_empty() || real.split('/').any(|part| is_passed_over(part.as_bytes())) {
            return None;
        }
        let (folder, name) = real.rsplit_once('/').unwrap_or((".", &real));
        let folder = beneath::open(self.root, folder, OFlags::RDONLY | OFlags::DIRECTORY).ok()?;
        let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((real, stat))
    }
}
