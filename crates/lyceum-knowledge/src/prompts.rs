//! The prompts. Their names, arguments and texts are specified.

mod compare_practices;
mod explain_pattern;
mod research_topic;

use std::{collections::BTreeMap, sync::Arc};

use lyceum_model::Domain;
use lyceum_tools::{
    Error, Outcome, PromptEntry, RegistryBuilder, RegistryError,
    mcp::{GetPromptResult, PromptArgument, PromptMessage, Role, WirePrompt},
};

use crate::{Features, Knowledge};

/// Adds the prompts for which there are documents.
pub(crate) fn register(
    builder: RegistryBuilder,
    domain: &Domain,
    knowledge: &Arc<Knowledge>,
    features: Features,
) -> Result<RegistryBuilder, RegistryError> {
    let mut builder = builder.prompt(prompt(domain, knowledge, &research_topic::PROMPT))?;
    if features.patterns {
        builder = builder.prompt(prompt(domain, knowledge, &explain_pattern::PROMPT))?;
    }
    if features.practices {
        builder = builder.prompt(prompt(domain, knowledge, &compare_practices::PROMPT))?;
    }
    Ok(builder)
}

/// A prompt.
struct Prompt {
    name: &'static str,
    title: &'static str,
    /// The description; `{title}` stands for the title of the knowledge base.
    description: &'static str,
    arguments: &'static [Argument],
    /// Renders its text from the title and the arguments.
    write: fn(&str, &Arguments) -> Result<String, Error>,
    /// Suggests values for an argument, given what is typed so far.
    complete: fn(&Knowledge, argument: &str, typed: &str) -> Vec<String>,
}

/// An argument of a prompt.
struct Argument {
    name: &'static str,
    description: &'static str,
    need: Need,
}

/// Whether an argument is required.
#[derive(PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

/// The given arguments.
struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// An argument; required ones are always present.
    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

fn prompt(domain: &Domain, knowledge: &Arc<Knowledge>, prompt: &'static Prompt) -> PromptEntry {
    let description = prompt.description.replace("{title}", knowledge.title());
    let argument = |one: &Argument| {
        PromptArgument::new(one.name)
            .with_description(one.description)
            .with_required(one.need == Need::Required)
    };
    let arguments = prompt.arguments.iter().map(argument).collect();
    let wire = WirePrompt::new(prompt.name, Some(&description), Some(arguments)).with_title(prompt.title);
    let (written_for, completed_from) = (knowledge.clone(), knowledge.clone());
    // Completion of the arguments shows titles.
    let access = knowledge.options.public.summaries(domain);
    PromptEntry::new(access, wire, move |_, arguments| {
        let text = (prompt.write)(written_for.title(), &Arguments(arguments));
        let description = description.clone();
        async move {
            let message = PromptMessage::new_text(Role::User, text?);
            let result = GetPromptResult::new(vec![message]).with_description(description);
            Ok(Outcome::Done(result))
        }
    })
    .completed_by(move |argument, typed| (prompt.complete)(&completed_from, argument, typed))
}
