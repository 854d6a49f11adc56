//! What is brought in: real repositories, by what their documents say or with all of them published.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::builder::PossibleValuesParser;

/// A repository, and how it is served.
pub(super) struct Material {
    pub(super) name: &'static str,
    bundle: &'static str,
    /// So many of its documents; all of them where this is nothing.
    pub(super) most: Option<usize>,
    pub(super) publishing: Publishing,
    pub(super) goals: Goals,
}

/// Which documents are served.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Publishing {
    /// Those that say so.
    AsWritten,
    /// All but those that say otherwise.
    ByDefault,
}

/// What medians should stay under, where something is to be reached: milliseconds, and megabytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Goals {
    pub(super) cold: Option<f64>,
    pub(super) same: Option<f64>,
    pub(super) changed: Option<f64>,
    pub(super) memory: Option<f64>,
}

/// What is to be reached with 2,000 documents.
const OF_2000: Goals =
    Goals { cold: Some(8000.0), same: Some(150.0), changed: Some(1000.0), memory: Some(200.0) };

/// The one that is served in the end.
pub(super) const SERVED: &str = "mdn";

/// Everything that is brought in.
pub(super) const MATERIALS: &[Material] = &[
    Material {
        name: "knowledge-base",
        bundle: "knowledge-base",
        most: None,
        publishing: Publishing::AsWritten,
        goals: OF_2000,
    },
    Material {
        name: "knowledge-base-all",
        bundle: "knowledge-base",
        most: None,
        publishing: Publishing::ByDefault,
        goals: OF_2000,
    },
    // Half of the knowledge base says `publish: false`, so 2,000 documents that are served come from elsewhere.
    Material {
        name: "mdn-2000",
        bundle: "mdn",
        most: Some(2000),
        publishing: Publishing::ByDefault,
        goals: OF_2000,
    },
    Material {
        name: "awesome-copilot",
        bundle: "awesome-copilot",
        most: None,
        publishing: Publishing::ByDefault,
        goals: Goals { cold: None, same: None, changed: None, memory: None },
    },
    Material {
        name: SERVED,
        bundle: "mdn",
        most: None,
        publishing: Publishing::ByDefault,
        goals: Goals { cold: None, same: None, changed: None, memory: Some(200.0) },
    },
];

/// The names of all, for the command line.
pub(super) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(MATERIALS.iter().map(|material| material.name))
}

impl Material {
    /// Its file among the bundles, which must be there.
    pub(super) fn bundle_in(&self, data: &Path) -> Result<PathBuf> {
        let file = data.join(format!("{}.bundle", self.bundle));
        ensure!(file.is_file(), "there is no {}; name the folder of the bundles with --data", file.display());
        Ok(file)
    }
}

#[cfg(test)]
mod tests;
