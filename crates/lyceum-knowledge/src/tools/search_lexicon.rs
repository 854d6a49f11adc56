//! `search_lexicon`: lexicon terms that contain a keyword.

use lyceum_content::knowledge::search_terms;
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{summaries, with_terms};
use crate::{Knowledge, term::Term};

/// Maximum number of terms per response.
const MAX_TERMS: usize = 50;

/// The tool.
#[derive(Debug)]
pub(crate) struct SearchLexicon;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Keyword to search
    #[schemars(length(min = 1, max = 500))]
    keyword: String,
}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The keyword.
    keyword: String,
    /// Total number of matches; the response has the first 50.
    total: usize,
    /// The terms, matches in the name first; each with the first paragraph of its definition.
    terms: Vec<Term>,
}

impl Tool for SearchLexicon {
    const NAME: &'static str = "search_lexicon";
    const TITLE: &'static str = "Search the lexicon of {title}";
    const DESCRIPTION: &'static str =
        "Search lexicon entries by keyword. Returns matching terms with definitions.";

    type Service = Knowledge;
    type Args = Args;
    type Output = Output;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        with_terms(knowledge, summaries(knowledge, spec))
    }

    async fn call(knowledge: &Knowledge, _: &Call, Args { keyword }: Args) -> Result<Output, Error> {
        let snapshot = knowledge.ready().await?;
        let found = search_terms(&snapshot.catalog, &keyword);
        let terms = found.iter().take(MAX_TERMS).map(|entry| Term::of_entry(knowledge, entry)).collect();
        Ok(Output { keyword, total: found.len(), terms })
    }
}
