//! `define_term`: what a term of the lexicon means.

use lyceum_content::knowledge::{define, near_terms};
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::named;
use crate::{Knowledge, term::Term};

/// How many terms are suggested where none is found.
const MOST_SUGGESTIONS: usize = 5;

/// The tool.
#[derive(Debug)]
pub(crate) struct DefineTerm;

/// What it is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Term to define
    #[schemars(length(min = 1, max = 500))]
    term: String,
}

/// What it answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(extend("type" = "object"))]
pub(crate) enum Definition {
    /// The term.
    Found {
        /// Always true.
        found: bool,
        #[serde(flatten)]
        term: Box<Term>,
        /// Whether the definition goes on; get_document has all of it.
        truncated: bool,
    },
    /// No term has that name.
    NotFound {
        /// Always false.
        found: bool,
        /// What was asked for.
        term: String,
        /// The same in words.
        message: String,
        /// Terms with names that are like it.
        suggestions: Vec<String>,
    },
}

impl Tool for DefineTerm {
    const NAME: &'static str = "define_term";
    const TITLE: &'static str = "Define a term";
    const DESCRIPTION: &'static str = "Get the definition of a term from the {title} lexicon. \
        Use this when users ask 'what is X?' about a term that {title} uses.";

    type Service = Knowledge;
    type Args = Args;
    type Output = Definition;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        named(knowledge, spec)
    }

    async fn call(knowledge: &Knowledge, _: &Call, args: Args) -> Result<Definition, Error> {
        let shown = knowledge.ready().await?;
        if let Some(entry) = define(&shown.catalog, &args.term) {
            let (term, truncated) = Term::of_document(&knowledge.document(entry).await?);
            return Ok(Definition::Found { found: true, term: Box::new(term), truncated });
        }
        let near = near_terms(&shown.catalog, &args.term, MOST_SUGGESTIONS);
        Ok(Definition::NotFound {
            found: false,
            message: format!("Term \"{}\" not found in lexicon.", args.term),
            term: args.term,
            suggestions: near.into_iter().map(|entry| entry.summary.title.clone()).collect(),
        })
    }
}
