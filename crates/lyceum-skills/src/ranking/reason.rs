//! Why a skill is a candidate, in one line.

use std::collections::HashSet;

use lyceum_content::skill::Draft;
use lyceum_search::terms;

use super::text::Fields;

/// Maximum number of words per field.
const MAX_WORDS: usize = 4;

/// Which words of the task a skill has, and where.
#[derive(Debug)]
pub(crate) struct Reason {
    /// The words as the task writes them, by the first field that has them.
    words: Vec<(&'static str, Vec<String>)>,
}

impl Reason {
    /// Compares a task with a skill.
    pub(crate) fn of(task: &str, skill: &Draft) -> Self {
        let fields = Fields::of(skill);
        let fields = [
            ("name", fields.name.as_str()),
            ("tags", &fields.tags),
            ("description", &skill.description),
            ("headings", &fields.headings),
        ];
        let task_terms = terms(task);
        let mut seen = HashSet::new();
        let mut words = Vec::new();
        for (field, text) in fields {
            let stems: HashSet<String> = terms(text).into_iter().map(|term| term.stem).collect();
            let shared: Vec<String> = (task_terms.iter())
                .filter(|term| stems.contains(&term.stem) && seen.insert(term.stem.as_str()))
                .filter_map(|term| Some(task.get(term.range.clone())?.to_lowercase()))
                .take(MAX_WORDS)
                .collect();
            if !shared.is_empty() {
                words.push((field, shared));
            }
        }
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
        let part = |(field, words): &(&str, Vec<String>)| format!("{} in its {field}", quoted(words));
        self.words.iter().map(part).collect::<Vec<_>>().join("; ")
    }
}
