//! What a catalog holds beside documents. Tools and prompts with nothing behind them are not offered.

use crate::CatalogSnapshot;

/// The features of a knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Terms with definitions.
    pub lexicon: bool,
    /// Groups.
    pub groups: bool,
    /// Releases.
    pub releases: bool,
    /// Patterns.
    pub patterns: bool,
    /// Practices.
    pub practices: bool,
}

impl Features {
    /// The features of a catalog; before the first sync, all that there can be.
    pub fn of(snapshot: &CatalogSnapshot) -> Self {
        let is_unknown = snapshot.version.is_none();
        let entries = || snapshot.catalog.entries().iter().map(|entry| &entry.summary);
        let has =
            |content_type: &str| is_unknown || entries().any(|entry| entry.content_type == content_type);
        Self {
            lexicon: has("tag"),
            groups: has("group") || entries().any(|entry| entry.group.is_some()),
            releases: is_unknown || entries().any(|entry| entry.release.is_some()),
            patterns: has("pattern"),
            practices: has("practice"),
        }
    }
}
