//! `compare-practices`: two practices side by side.

use lyceum_content::knowledge::completions;
use lyceum_tools::Error;

use super::{Argument, Arguments, Need, Prompt};
use crate::{Knowledge, term};

pub(super) const PROMPT: Prompt = Prompt {
    name: "compare-practices",
    title: "Compare two practices",
    description: "Compare two practices from the {title} knowledge base",
    arguments: &[
        Argument { name: "practice1", description: "First practice to compare", need: Need::Required },
        Argument { name: "practice2", description: "Second practice to compare", need: Need::Required },
    ],
    write,
    complete,
};

#[expect(clippy::unnecessary_wraps, reason = "other prompts have arguments that can be wrong")]
fn write(title: &str, given: &Arguments) -> Result<String, Error> {
    let (practice1, practice2) = (given.text("practice1"), given.text("practice2"));
    Ok(format!(
        "Compare \"{practice1}\" and \"{practice2}\" as described in the {title} knowledge base.

Structure your comparison:
1. Brief definition of each
2. Key similarities
3. Key differences
4. When to use each
5. How they might complement each other

Use the search_knowledge tool to find relevant documentation for both."
    ))
}

fn complete(knowledge: &Knowledge, _: &str, typed: &str) -> Vec<String> {
    let snapshot = knowledge.snapshot();
    completions(term::titles_of(&snapshot.catalog, &["practice", "pattern"]), typed)
}
