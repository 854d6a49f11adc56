//! A table with a title: names, figures, and a column of goals if any row has one.

use std::fmt;

use super::row::Row;

/// A table.
pub(crate) struct Table {
    title: Option<String>,
    /// Prefix of missed goals, if the row names alone are ambiguous.
    subject: Option<String>,
    columns: Vec<&'static str>,
    rows: Vec<Row>,
}

impl Table {
    /// A table with these columns; the first is the row name.
    pub(crate) fn new(columns: &[&'static str], rows: Vec<Row>) -> Self {
        Self { title: None, subject: None, columns: columns.to_vec(), rows }
    }

    /// A table with one figure per row.
    pub(crate) fn of_figures(rows: Vec<Row>) -> Self {
        Self::new(&["", "figure"], rows)
    }

    /// Sets the title.
    pub(crate) fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// Sets the prefix of missed goals.
    pub(crate) fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    pub(super) fn count_goals(&self) -> usize {
        self.rows.iter().map(Row::count_goals).sum()
    }

    /// The missed goals.
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
        columns.extend(with_goals.then_some("goal"));
        writeln!(out, "| {} |", columns.join(" | "))?;
        writeln!(out, "|---|{}", "--:|".repeat(columns.len().saturating_sub(1)))?;
        self.rows.iter().try_for_each(|row| row.write(out, with_goals))
    }
}
