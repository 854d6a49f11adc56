//! The report of a benchmark, a section of `docs/benchmarks.md`: tables, text, missed goals and conditions. The content
//! is in the `tables.rs` of each benchmark.

mod row;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;

use anyhow::{Result, bail};
use lyceum_harness::repo::Repo;

use crate::machine::Fact;
use crate::page::Section;

pub(crate) use row::Row;
pub(crate) use table::Table;

/// A report.
#[derive(Default)]
pub(crate) struct Report {
    parts: Vec<Part>,
    /// Measurements that failed, with the reason.
    problems: Vec<String>,
    facts: Vec<Fact>,
}

enum Part {
    Text(String),
    Table(Table),
}

impl Report {
    /// Adds a paragraph or a list.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Text(text.into()));
    }

    /// Adds a table.
    pub(crate) fn add(&mut self, table: Table) {
        self.parts.push(Part::Table(table));
    }

    /// Adds failed measurements and conditions.
    pub(crate) fn with_footer(self, problems: Vec<String>, facts: Vec<Fact>) -> Self {
        Self { problems, facts, ..self }
    }

    /// Prints the report. With `write`, also writes it to the page, unless a measurement failed.
    pub(crate) fn publish(&self, repo: &Repo, section: Section, write: bool) -> Result<()> {
        println!("\n{self}");
        if !self.problems.is_empty() {
            bail!("{} measurements failed; see above", self.problems.len());
        }
        if write {
            section.write(&repo.path("docs/benchmarks.md"), &self.to_string())?;
        }
        Ok(())
    }

    fn tables(&self) -> impl Iterator<Item = &Table> {
        self.parts.iter().filter_map(|part| match part {
            Part::Table(table) => Some(table),
            Part::Text(_) => None,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Text(text) => writeln!(out, "{text}\n")?,
                Part::Table(table) => writeln!(out, "{table}")?,
            }
        }
        let goals: usize = self.tables().map(Table::count_goals).sum();
        let missed: Vec<String> = self.tables().flat_map(Table::missed).collect();
        if goals > 0 {
            writeln!(out, "Goals: {} of {goals} are reached.\n", goals - missed.len())?;
        }
        missed.iter().try_for_each(|missed| writeln!(out, "- MISSED: {missed}"))?;
        self.problems.iter().try_for_each(|problem| writeln!(out, "- NOT MEASURED: {problem}"))?;
        if !missed.is_empty() || !self.problems.is_empty() {
            writeln!(out)?;
        }
        self.facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))
    }
}
