//! `search_library`: what the lists have on a subject.

use lyceum_tools::{Call, Error, Faults, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::similar;
use crate::{
    Library, PartKind,
    search::{Listed, search},
};

/// Default number of results.
const DEFAULT_RESULTS: usize = 10;

/// Maximum number of results.
const MAX_RESULTS: usize = 50;

/// The tool.
#[derive(Debug)]
pub(crate) struct SearchLibrary;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// What to look for, such as "fill in a PDF form".
    #[schemars(length(min = 1, max = 500))]
    query: String,
    /// Only skills, agents or docs. Default: all.
    #[serde(default)]
    kind: Option<Kind>,
    /// Maximum number of results. Default: 10.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
}

/// A part of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Skills,
    Agents,
    Docs,
}

/// The results.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Best first.
    results: Vec<SearchHit>,
    /// Similar names, if nothing matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    did_you_mean: Vec<String>,
    /// What could not be searched, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    degraded: Vec<String>,
}

/// A skill, an agent profile or a page.
#[derive(Debug, Serialize, JsonSchema)]
struct SearchHit {
    /// skills, agents or docs.
    kind: &'static str,
    /// Its name; of a page, its path.
    name: String,
    /// What it is for.
    description: Option<String>,
    /// Path in the repository.
    path: String,
    /// Link to it at the commit that is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// How well it fits, from 0 to 1.
    score: f32,
    /// The tool that reads it.
    tool: String,
    /// The arguments to call that tool with.
    arguments: Value,
}

impl Tool for SearchLibrary {
    const NAME: &'static str = "search_library";
    const TITLE: &'static str = "Search the library";
    const DESCRIPTION: &'static str = "Searches the names and descriptions of the team's skills, agent profiles and \
        docs. Each result says which tool reads it, and with which arguments.";
    const FAULTS: Faults = Faults::InResultAsJson;

    type Service = Library;
    type Args = Args;
    type Output = Output;

    async fn call(library: &Library, _: &Call, args: Args) -> Result<Output, Error> {
        let (mut indexes, mut failures) = (Vec::new(), Vec::new());
        for (kind, _) in library.parts().filter(|(kind, _)| args.kind.is_none_or(|wanted| wanted.is(*kind))) {
            let is_there = |indexes: &crate::Indexes| indexes.listing(kind).map(|_| indexes.clone());
            match library.index(kind, is_there).await {
                Ok(found) => indexes.push((kind, found)),
                Err(error) => failures.push(error),
            }
        }
        if indexes.is_empty()
            && let Some(error) = failures.pop()
        {
            return Err(error);
        }
        let listings: Vec<_> = indexes.iter().filter_map(|(kind, indexes)| indexes.listing(*kind)).collect();
        let limit = args.limit.unwrap_or(DEFAULT_RESULTS).min(MAX_RESULTS);
        let hits = search(&listings, &args.query, limit);
        let names = listings.iter().flat_map(|listing| listing.names());
        let did_you_mean = if hits.is_empty() { similar(&args.query, names) } else { Vec::new() };
        Ok(Output {
            did_you_mean: did_you_mean.into_iter().map(str::to_owned).collect(),
            results: hits.into_iter().map(|(hit, score)| SearchHit::new(library, hit, score)).collect(),
            degraded: failures.iter().map(ToString::to_string).collect(),
        })
    }
}

impl SearchHit {
    fn new(library: &Library, hit: &Listed, score: f32) -> Self {
        let (tool, arguments) = match hit.kind {
            PartKind::Skills => ("get_skill", json!({ "name": hit.name })),
            PartKind::Agents => ("get_agent", json!({ "name": hit.name })),
            PartKind::Docs => ("get_doc", json!({ "path": hit.name.split('/').collect::<Vec<_>>() })),
        };
        Self {
            kind: hit.kind.as_str(),
            name: hit.name.clone(),
            description: hit.description.clone(),
            path: hit.path.to_string(),
            url: hit.url.clone(),
            score,
            tool: library.prefix.of(tool),
            arguments,
        }
    }
}

impl Kind {
    fn is(self, kind: PartKind) -> bool {
        match self {
            Self::Skills => kind == PartKind::Skills,
            Self::Agents => kind == PartKind::Agents,
            Self::Docs => kind == PartKind::Docs,
        }
    }
}
