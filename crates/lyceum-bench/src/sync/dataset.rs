//! The synced repositories, published as their documents declare or as a whole.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::builder::PossibleValuesParser;

/// A repository and its options.
pub(super) struct Dataset {
    pub(super) name: &'static str,
    bundle: &'static str,
    /// Number of documents to keep; `None` for all.
    pub(super) max_documents: Option<usize>,
    pub(super) publishing: Publishing,
    pub(super) goals: Goals,
}

/// Which documents are published.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Publishing {
    /// Documents with `publish: true`.
    AsWritten,
    /// All documents without `publish: false`.
    ByDefault,
}

/// Goals for medians in milliseconds, and for memory in megabytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Goals {
    pub(super) cold: Option<f64>,
    pub(super) same: Option<f64>,
    pub(super) changed: Option<f64>,
    pub(super) memory: Option<f64>,
}

/// Goals with 2,000 documents.
const OF_2000: Goals =
    Goals { cold: Some(8000.0), same: Some(150.0), changed: Some(1000.0), memory: Some(200.0) };

/// The dataset that is also served.
pub(super) const SERVED: &str = "mdn";

/// All datasets.
pub(super) const DATASETS: &[Dataset] = &[
    Dataset {
        name: "knowledge-base",
        bundle: "knowledge-base",
        max_documents: None,
        publishing: Publishing::AsWritten,
        goals: OF_2000,
    },
    Dataset {
        name: "knowledge-base-all",
        bundle: "knowledge-base",
        max_documents: None,
        publishing: Publishing::ByDefault,
        goals: OF_2000,
    },
    // Half of the knowledge base has `publish: false`, so another repository provides 2,000 published documents.
    Dataset {
        name: "mdn-2000",
        bundle: "mdn",
        max_documents: Some(2000),
        publishing: Publishing::ByDefault,
        goals: OF_2000,
    },
    Dataset {
        name: "awesome-copilot",
        bundle: "awesome-copilot",
        max_documents: None,
        publishing: Publishing::ByDefault,
        goals: Goals { cold: None, same: None, changed: None, memory: None },
    },
    Dataset {
        name: SERVED,
        bundle: "mdn",
        max_documents: None,
        publishing: Publishing::ByDefault,
        goals: Goals { cold: None, same: None, changed: None, memory: Some(200.0) },
    },
];

/// All names, for the command line.
pub(super) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(DATASETS.iter().map(|dataset| dataset.name))
}

impl Dataset {
    /// Path of the bundle; fails if it is missing.
    pub(super) fn bundle_in(&self, data: &Path) -> Result<PathBuf> {
        let file = data.join(format!("{}.bundle", self.bundle));
        ensure!(
            file.is_file(),
            "no such file: {}; pass the folder of the bundles with --data",
            file.display()
        );
        Ok(file)
    }
}

#[cfg(test)]
mod tests;
