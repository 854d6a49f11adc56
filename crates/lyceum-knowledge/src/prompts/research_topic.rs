//! `research-topic`: a topic across the whole knowledge base.

use lyceum_content::knowledge::completions;
use lyceum_tools::Error;

use super::{Argument, Arguments, Need, Prompt};
use crate::{Knowledge, term};

pub(super) const PROMPT: Prompt = Prompt {
    name: "research-topic",
    title: "Research a topic",
    description: "Research a topic comprehensively across the {title} knowledge base",
    arguments: &[
        Argument { name: "topic", description: "Topic to research", need: Need::Required },
        Argument { name: "depth", description: "Research depth: shallow or deep", need: Need::Optional },
    ],
    write,
    complete,
};

const DEPTHS: [&str; 2] = ["shallow", "deep"];

const SHALLOW: &str = "
Provide a brief summary including:
1. Key definition from the lexicon
2. Most relevant artifact
3. One or two external resources
";

const DEEP: &str = "
Provide a comprehensive analysis including:
1. Core concepts and definitions from the lexicon
2. Related patterns and practices from artifacts
3. External resources from the library
4. Cross-references to other relevant topics
5. Gaps or areas needing more documentation
";

fn write(title: &str, given: &Arguments) -> Result<String, Error> {
    let wanted = match given.text("depth") {
        // Some clients send omitted arguments as empty strings.
        "" | "shallow" => SHALLOW,
        "deep" => DEEP,
        _ => {
            let field = "arguments.depth";
            return Err(Error::invalid(field, format!("{field}: must be {}", DEPTHS.join(" or "))));
        }
    };
    let topic = given.text("topic");
    Ok(format!(
        "Research the topic \"{topic}\" in the {title} knowledge base.\n\n{wanted}\n\n\
         Use the search_knowledge and define_term tools as needed."
    ))
}

fn complete(knowledge: &Knowledge, argument: &str, typed: &str) -> Vec<String> {
    if argument == "depth" {
        return completions(DEPTHS, typed);
    }
    let snapshot = knowledge.snapshot();
    let titles = snapshot.catalog.entries().iter().map(|entry| entry.summary.title.as_str());
    completions(term::titles(&snapshot.catalog).chain(titles), typed)
}
