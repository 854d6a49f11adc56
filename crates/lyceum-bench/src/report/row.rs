//! Rows of a table: figures and goals.

use std::fmt;

/// A name, figures and goals.
pub(crate) struct Row {
    name: String,
    figures: Vec<String>,
    goals: Vec<Goal>,
}

/// A goal, and whether it is reached.
struct Goal {
    text: String,
    is_reached: bool,
}

impl Row {
    /// A row with one figure and no goal.
    pub(crate) fn new(name: impl Into<String>, figure: impl Into<String>) -> Self {
        Self::of_figures(name, vec![figure.into()])
    }

    /// A row with several figures and no goal.
    pub(crate) fn of_figures(name: impl Into<String>, figures: Vec<String>) -> Self {
        Self { name: name.into(), figures, goals: Vec::new() }
    }

    /// Adds an upper limit as goal.
    pub(crate) fn below(self, value: f64, goal: f64) -> Self {
        self.goal(format!("< {goal}"), value < goal)
    }

    /// Adds a lower limit as goal.
    pub(crate) fn at_least(self, value: f64, goal: f64) -> Self {
        self.goal(format!("≥ {goal}"), value >= goal)
    }

    /// Adds a goal.
    pub(crate) fn goal(mut self, text: impl Into<String>, is_reached: bool) -> Self {
        self.goals.push(Goal { text: text.into(), is_reached });
        self
    }

    pub(super) fn has_goals(&self) -> bool {
        !self.goals.is_empty()
    }

    pub(super) fn count_goals(&self) -> usize {
        self.goals.len()
    }

    /// The missed goals, with the figures of the row.
    pub(super) fn missed(&self) -> impl Iterator<Item = String> {
        let figures: Vec<&str> =
            self.figures.iter().map(String::as_str).filter(|one| !one.is_empty()).collect();
        let figures = figures.join(", ");
        let missed = self.goals.iter().filter(|goal| !goal.is_reached);
        missed.map(move |goal| format!("{}: {figures} ({})", self.name, goal.text))
    }

    /// Writes the row, with a cell of goals if the table has such a column.
    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, with_goals: bool) -> fmt::Result {
        write!(out, "| {} | {} |", self.name, self.figures.join(" | "))?;
        if with_goals {
            let mark =
                |goal: &Goal| format!("{} {}", goal.text, if goal.is_reached { "✓" } else { "✗ MISSED" });
            let goals: Vec<String> = self.goals.iter().map(mark).collect();
            write!(out, " {} |", goals.join(", "))?;
        }
        writeln!(out)
    }
}
