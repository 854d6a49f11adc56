//! Lines of a table: each a figure and what it should be.

use std::fmt;

/// A figure and what it should be.
pub(super) struct Line {
    name: String,
    figure: String,
    goal: Option<Goal>,
}

struct Goal {
    text: String,
    is_reached: bool,
}

impl Line {
    /// A figure for information only.
    pub(super) fn new(name: String, figure: String) -> Self {
        Self { name, figure, goal: None }
    }

    pub(super) fn with_goal(name: String, figure: String, text: String, is_reached: bool) -> Self {
        Self { name, figure, goal: Some(Goal { text, is_reached }) }
    }

    pub(super) fn below(name: String, unit: &str, value: f64, goal: f64) -> Self {
        Self::with_goal(name, in_unit(value, unit), format!("< {goal}"), value < goal)
    }

    pub(super) fn at_least(name: String, figure: String, value: f64, goal: f64) -> Self {
        Self::with_goal(name, figure, format!("≥ {goal}"), value >= goal)
    }

    fn is_missed(&self) -> bool {
        self.goal.as_ref().is_some_and(|goal| !goal.is_reached)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goal = self.goal.as_ref().map_or_else(String::new, |goal| {
            format!("{} {}", goal.text, if goal.is_reached { "✓" } else { "✗ MISSED" })
        });
        writeln!(out, "| {} | {} | {goal} |", self.name, self.figure)
    }
}

/// A figure as people read it.
pub(super) fn in_unit(value: f64, unit: &str) -> String {
    let decimals = usize::from(value < 100.0);
    format!("{value:.decimals$} {unit}")
}

/// A table with its title.
pub(super) fn table(out: &mut fmt::Formatter<'_>, title: &str, lines: &[Line]) -> fmt::Result {
    writeln!(out, "### {title}\n\n| | figure | to reach |\n|---|--:|--:|")?;
    lines.iter().try_for_each(|line| write!(out, "{line}"))?;
    writeln!(out)
}

/// How many goals are reached, and which are not.
pub(super) fn sum_up(out: &mut fmt::Formatter<'_>, lines: impl Iterator<Item = Line>) -> fmt::Result {
    let goals: Vec<Line> = lines.filter(|line| line.goal.is_some()).collect();
    let missed: Vec<&Line> = goals.iter().filter(|line| line.is_missed()).collect();
    writeln!(out, "Goals: {} of {} are reached.\n", goals.len() - missed.len(), goals.len())?;
    for Line { name, figure, goal } in missed {
        let goal = goal.as_ref().map_or("", |goal| &goal.text);
        writeln!(out, "- MISSED: {name}: {figure} ({goal})")?;
    }
    Ok(())
}
