//! A table with its title: a column of names, columns of figures, and one of goals where a row has any.

use std::fmt;

use super::row::Row;

/// A table.
pub(crate) struct Table {
    title: Option<String>,
    /// What its rows are about, where their names alone don't say it: it stands before a goal that is missed.
    subject: Option<String>,
    columns: Vec<&'static str>,
    rows: Vec<Row>,
}

impl Table {
    /// A table with these columns, the names first.
    pub(crate) fn new(columns: &[&'static str], rows: Vec<Row>) -> Self {
        Self { title: None, subject: None, columns: columns.to_vec(), rows }
    }

    /// A table of one figure a row.
    pub(crate) fn of_figures(rows: Vec<Row>) -> Self {
        Self::new(&["", "figure"], rows)
    }

    /// Puts a title above it.
    pub(crate) fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Says what its rows are about.
    pub(crate) fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    pub(super) fn count_goals(&self) -> usize {
        self.rows.iter().map(Row::count_goals).sum()
    }

    /// Each goal that is missed.
    pub(super) fn missed(&self) -> impl Iterator<Item = String> {
        let subject = self.subject.as_ref().map_or_else(String::new, |subject| format!("{subject}: "));
        self.rows.iter().flat_map(Row::missed).map(move |missed| format!("{subject}{missed}"))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(title) = &self.title {
            writeln!(out, "### {title}\n")?;
        }
        let with_goals = self.rows.iter().any(Row::has_goals);
        let mut columns = self.columns.clone();
        columns.extend(with_goals.then_some("to reach"));
        writeln!(out, "| {} |", columns.join(" | "))?;
        writeln!(out, "|---|{}", "--:|".repeat(columns.len().saturating_sub(1)))?;
        self.rows.iter().try_for_each(|row| row.write(out, with_goals))
    }
}
