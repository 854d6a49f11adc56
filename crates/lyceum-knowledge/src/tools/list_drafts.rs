//! `list_drafts`: what became of proposed documents.

use lyceum_model::Tier;
use lyceum_store::drafts::State;
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::named;
use crate::{DraftList, Knowledge};

/// Default and maximum number of drafts.
const DEFAULT_LIMIT: i64 = 20;
const MAX_LIMIT: i64 = 100;

/// The tool.
#[derive(Debug)]
pub(crate) struct ListDrafts;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Only drafts in this state; leave it out for all of them
    #[serde(default)]
    state: Option<StateFilter>,
    /// Maximum number of drafts, newest first. Default: 20
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
}

/// A state of drafts.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StateFilter {
    Queued,
    Open,
    Pushed,
    Merged,
    Closed,
    Failed,
}

impl From<StateFilter> for State {
    fn from(filter: StateFilter) -> Self {
        match filter {
            StateFilter::Queued => Self::Queued,
            StateFilter::Open => Self::Open,
            StateFilter::Pushed => Self::Pushed,
            StateFilter::Merged => Self::Merged,
            StateFilter::Closed => Self::Closed,
            StateFilter::Failed => Self::Failed,
        }
    }
}

impl Tool for ListDrafts {
    const NAME: &'static str = "list_drafts";
    const TITLE: &'static str = "List the drafts of {title}";
    const DESCRIPTION: &'static str = "List documents and links that were proposed for the {title} knowledge base, newest \
        first: whether they are open for review, merged or closed, by whom, and where. Requires member access.";
    const TIER: Tier = Tier::Member;
    const SCOPES: &'static [&'static str] = &["knowledge:read"];

    type Service = Knowledge;
    type Args = Args;
    type Output = DraftList;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        named(knowledge, spec)
    }

    async fn call(knowledge: &Knowledge, _: &Call, args: Args) -> Result<DraftList, Error> {
        let limit = args.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        knowledge.list_drafts(args.state.map(State::from), limit).await
    }
}
