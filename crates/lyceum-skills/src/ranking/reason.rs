//! Why a skill is a candidate, in one line.

use super::{
    Task,
    text::{Field, SkillText},
};

/// Maximum number of words per field.
const MAX_WORDS: usize = 4;

/// Which words of the task a skill has, and where.
#[derive(Debug)]
pub(crate) struct Reason {
    /// The words as the task writes them, by the first field that has them.
    words: Vec<(Field, Vec<String>)>,
}

impl Reason {
    /// Compares a task with a skill.
    pub(crate) fn of(task: &Task<'_>, skill: &SkillText) -> Self {
        let mut words: Vec<(Field, Vec<String>)> = Field::ALL.map(|field| (field, Vec::new())).into();
        for word in task.distinct_words() {
            let Some(stem) = skill.stem(word.stem) else { continue };
            let first = words.iter_mut().find(|(field, words)| stem.is_in(*field) && words.len() < MAX_WORDS);
            if let (Some((_, words)), Some(written)) = (first, task.written(word)) {
                words.push(written);
            }
        }
        words.retain(|(_, words)| !words.is_empty());
        Self { words }
    }

    /// The words that match.
    pub(crate) fn words(&self) -> Vec<String> {
        self.words.iter().flat_map(|(_, words)| words.clone()).collect()
    }

    /// One line for the caller.
    pub(crate) fn line(&self) -> String {
        if self.words.is_empty() {
            return "no word in common; its description is close in meaning".to_owned();
        }
        let quoted =
            |words: &[String]| words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
        let part =
            |(field, words): &(Field, Vec<String>)| format!("{} in its {}", quoted(words), field.name());
        self.words.iter().map(part).collect::<Vec<_>>().join("; ")
    }
}
