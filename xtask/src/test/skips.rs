//! Checks that were skipped on this machine, and why. A run with skips fails, unless they were allowed by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lyceum_harness::repo::Repo;

/// A skipped check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Skip {
    /// A test, or a part of a step.
    pub(crate) what: String,
    pub(crate) why: String,
}

impl Skip {
    pub(crate) fn print(&self) {
        println!("   skipped: {}: {}", self.what, self.why);
    }
}

/// The file in which tests record skips; emptied first.
pub(super) fn file(repo: &Repo) -> Result<PathBuf> {
    let file = repo.path("target/test-skips");
    fs::create_dir_all(repo.path("target")).context("could not create the target folder")?;
    fs::write(&file, "").with_context(|| format!("could not write {}", file.display()))?;
    Ok(file)
}

/// Reads the skips that tests recorded.
pub(super) fn read(file: &Path) -> Result<Vec<Skip>> {
    let text = fs::read_to_string(file).with_context(|| format!("could not read {}", file.display()))?;
    Ok(parse(&text))
}

fn parse(text: &str) -> Vec<Skip> {
    let lines = text.lines().map(|line| line.split_once('\t').unwrap_or((line, "no reason given")));
    lines.map(|(what, why)| Skip { what: what.to_owned(), why: why.to_owned() }).collect()
}

/// Prints the skips by reason, and returns how many were not allowed.
pub(super) fn list(skips: &[Skip], allowed: &[String]) -> usize {
    let mut by_reason: BTreeMap<(bool, &str), Vec<&str>> = BTreeMap::new();
    for skip in skips {
        by_reason.entry((is_allowed(skip, allowed), &skip.why)).or_default().push(&skip.what);
    }
    for ((is_allowed, why), mut whats) in by_reason {
        whats.dedup();
        let word = if is_allowed { "skipped, as allowed" } else { "skipped" };
        println!("── {word}: {why}\n   {}", whats.join("\n   "));
    }
    skips.iter().filter(|skip| !is_allowed(skip, allowed)).count()
}

/// Whether its name or reason contains one of the allowed texts.
fn is_allowed(skip: &Skip, allowed: &[String]) -> bool {
    allowed.iter().any(|words| skip.what.contains(words) || skip.why.contains(words))
}

#[cfg(test)]
mod tests {
    use super::{list, parse};

    #[test]
    fn what_is_skipped_counts_unless_it_is_allowed_by_its_name_or_its_reason() {
        let skips = parse("runners::node_runs\tnode is not installed\nprobes::plain\tonly root can\nodd\n");
        assert_eq!(list(&skips, &[]), 3);
        assert_eq!(list(&skips, &["node".to_owned()]), 2);
        assert_eq!(list(&skips, &["only root".to_owned(), "odd".to_owned()]), 1);
        assert_eq!(list(&[], &[]), 0);
    }
}
