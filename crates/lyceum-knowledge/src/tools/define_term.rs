//! `define_term`: the definition of a lexicon term.

use lyceum_content::knowledge::{define, near_terms};
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{summaries, with_terms};
use crate::{Knowledge, term::Term};

/// Maximum number of suggestions if there is no such term.
const MAX_SUGGESTIONS: usize = 5;

/// The tool.
#[derive(Debug)]
pub(crate) struct DefineTerm;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Term to define
    #[schemars(length(min = 1, max = 500))]
    term: String,
}

/// The output.
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
        /// Whether the definition is truncated; get_document returns all of it.
        truncated: bool,
    },
    /// There is no such term.
    NotFound {
        /// Always false.
        found: bool,
        /// The term in the request.
        term: String,
        /// A message for people.
        message: String,
        /// Terms with similar names.
        suggestions: Vec<String>,
    },
}

impl Tool for DefineTerm {
    const NAME: &'static str = "define_term";
    const TITLE: &'static str = "Define a term of {title}";
    const DESCRIPTION: &'static str = "Get the definition of a term from the {title} lexicon. \
        Use this when users ask 'what is X?' about a term that {title} uses.";

    type Service = Knowledge;
    type Args = Args;
    type Output = Definition;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        with_terms(knowledge, summaries(knowledge, spec))
    }

    async fn call(knowledge: &Knowledge, _: &Call, args: Args) -> Result<Definition, Error> {
        let snapshot = knowledge.ready().await?;
        if let Some(entry) = define(&snapshot.catalog, &args.term) {
            let (term, truncated) = Term::of_document(&knowledge.document(entry).await?);
            return Ok(Definition::Found { found: true, term: Box::new(term), truncated });
        }
        let near = near_terms(&snapshot.catalog, &args.term, MAX_SUGGESTIONS);
        Ok(Definition::NotFound {
            found: false,
            message: format!("Term \"{}\" not found in lexicon.", args.term),
            term: args.term,
            suggestions: near.into_iter().map(|entry| entry.summary.title.clone()).collect(),
        })
    }
}
