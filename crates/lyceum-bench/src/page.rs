//! `docs/benchmarks.md`: each benchmark writes its own section, between two markers.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// A page without results.
const EMPTY: &str = "# Benchmarks\n\nWritten by `cargo xtask bench … --write`; compare ratios, not machines.\n\n\
    <!-- bench:http -->\n<!-- /bench:http -->\n\n## Skills\n\n<!-- bench:skills -->\n<!-- /bench:skills -->\n\n\
    ### Skill routing\n\n<!-- bench:skill-routing -->\n<!-- /bench:skill-routing -->\n\n\
    ## Sync\n\n<!-- bench:sync -->\n<!-- /bench:sync -->\n\n\
    ## Search\n\n<!-- bench:search -->\n<!-- /bench:search -->\n\n\
    ## Sign-in\n\n<!-- bench:auth -->\n<!-- /bench:auth -->\n\n\
    ## Flood\n\n<!-- bench:flood -->\n<!-- /bench:flood -->\n";

/// The section of one benchmark.
#[derive(Clone, Copy)]
pub(super) enum Section {
    Auth,
    Flood,
    Http,
    Search,
    SkillRouting,
    Skills,
    Sync,
}

impl Section {
    fn markers(self) -> [&'static str; 2] {
        match self {
            Self::Auth => ["<!-- bench:auth -->", "<!-- /bench:auth -->"],
            Self::Flood => ["<!-- bench:flood -->", "<!-- /bench:flood -->"],
            Self::Http => ["<!-- bench:http -->", "<!-- /bench:http -->"],
            Self::Search => ["<!-- bench:search -->", "<!-- /bench:search -->"],
            Self::SkillRouting => ["<!-- bench:skill-routing -->", "<!-- /bench:skill-routing -->"],
            Self::Skills => ["<!-- bench:skills -->", "<!-- /bench:skills -->"],
            Self::Sync => ["<!-- bench:sync -->", "<!-- /bench:sync -->"],
        }
    }

    /// Replaces the section of the page; creates the page if it is missing.
    pub(super) fn write(self, page: &Path, text: &str) -> Result<()> {
        let old = fs::read_to_string(page).unwrap_or_else(|_| EMPTY.to_owned());
        let [opening, closing] = self.markers();
        let new = self.replaced(&old, text).with_context(|| {
            format!("{} has no section; add the lines {opening} and {closing}", page.display())
        })?;
        page.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .context("could not create the folder of the page")?;
        fs::write(page, new).with_context(|| format!("could not write {}", page.display()))
    }

    fn replaced(self, page: &str, text: &str) -> Option<String> {
        let [opening, closing] = self.markers();
        let (before, rest) = page.split_once(opening)?;
        let (_, after) = rest.split_once(closing)?;
        Some(format!("{before}{opening}\n\n{}\n\n{closing}{after}", text.trim()))
    }
}

#[cfg(test)]
mod tests;
