//! `explain-pattern`: a pattern with its context and examples.

use lyceum_content::knowledge::completions;
use lyceum_tools::Error;

use super::{Argument, Arguments, Need, Prompt};
use crate::{Knowledge, term};

pub(super) const PROMPT: Prompt = Prompt {
    name: "explain-pattern",
    title: "Explain a pattern",
    description: "Explain a pattern with examples and context from {title}'s experience",
    arguments: &[Argument { name: "pattern", description: "Pattern name to explain", need: Need::Required }],
    write,
    complete,
};

#[expect(clippy::unnecessary_wraps, reason = "other prompts have arguments that can be wrong")]
fn write(title: &str, given: &Arguments) -> Result<String, Error> {
    let pattern = given.text("pattern");
    Ok(format!(
        "Explain the pattern \"{pattern}\" as documented in {title}'s knowledge base.

Include:
1. Definition from the lexicon
2. How it works in practice
3. Examples from {title}'s experience
4. Related patterns
5. When to use vs. alternatives

Use the search_knowledge and define_term tools to find accurate information."
    ))
}

fn complete(knowledge: &Knowledge, _: &str, typed: &str) -> Vec<String> {
    let snapshot = knowledge.snapshot();
    completions(term::titles_of(&snapshot.catalog, &["pattern"]), typed)
}
