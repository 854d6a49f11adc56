//! Counts right and wrong answers.

use super::Task;

/// Counts of a set of tasks.
#[derive(Default)]
pub(crate) struct Score {
    with_skill: usize,
    first: usize,
    among_three: usize,
    single: usize,
    single_right: usize,
    without_skill: usize,
    none: usize,
}

impl Score {
    /// Counts an answer: the paths of the skills that it names, best first. Returns a wrong one in words.
    pub(super) fn add(&mut self, task: &Task, answer: &[String]) -> Option<String> {
        let is_right = |path: &&String| task.skills.contains(path);
        let mistake = || Some(format!("{:?} gives {answer:?} instead of {:?}", task.task, task.skills));
        if task.skills.is_empty() {
            self.without_skill += 1;
            self.none += usize::from(answer.is_empty());
            return if answer.is_empty() { None } else { mistake() };
        }
        let is_first = answer.first().as_ref().is_some_and(is_right);
        self.with_skill += 1;
        self.first += usize::from(is_first);
        self.among_three += usize::from(answer.iter().take(3).any(|path| is_right(&path)));
        if answer.len() == 1 {
            self.single += 1;
            self.single_right += usize::from(is_first);
        }
        if is_first { None } else { mistake() }
    }

    /// Number of tasks.
    pub(super) fn tasks(&self) -> usize {
        self.with_skill + self.without_skill
    }

    /// Share of tasks with a right skill in the first place.
    pub(super) fn first(&self) -> f64 {
        share(self.first, self.with_skill)
    }

    /// Share of tasks with a right skill in the first three places.
    pub(super) fn among_three(&self) -> f64 {
        share(self.among_three, self.with_skill)
    }

    /// Share of tasks without a right skill that are answered with none.
    pub(super) fn none(&self) -> f64 {
        share(self.none, self.without_skill)
    }

    /// Share of tasks with a right skill that are answered with one skill.
    pub(super) fn single(&self) -> f64 {
        share(self.single, self.with_skill)
    }

    /// Share of those that are right.
    pub(super) fn single_right(&self) -> f64 {
        share(self.single_right, self.single)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
