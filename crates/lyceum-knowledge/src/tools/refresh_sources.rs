//! `refresh_sources`: syncs the source now.

use lyceum_model::{ErrorCode, Tier};
use lyceum_tools::{Call, Effect, Error, Tool, ToolSpec, mcp::printable};
use schemars::JsonSchema;
use serde::Deserialize;

use super::named;
use crate::{Knowledge, Report};

/// The tool.
#[derive(Debug)]
pub(crate) struct RefreshSources;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The source to refresh; leave it out for all of them
    #[serde(default)]
    source: Option<String>,
}

impl Tool for RefreshSources {
    const NAME: &'static str = "refresh_sources";
    const TITLE: &'static str = "Refresh the sources of {title}";
    const DESCRIPTION: &'static str = "Sync the {title} knowledge base now, instead of \
        waiting for the next regular sync, and report what was added, changed, removed and skipped.";
    const TIER: Tier = Tier::Vibecoder;
    const SCOPES: &'static [&'static str] = &["sources:refresh"];
    const EFFECT: Effect = Effect::Writes;

    type Service = Knowledge;
    type Args = Args;
    type Output = Report;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        named(knowledge, spec)
    }

    async fn call(knowledge: &Knowledge, _: &Call, args: Args) -> Result<Report, Error> {
        let here = knowledge.source_name();
        if let Some(source) = args.source.filter(|source| source != here.as_str()) {
            let message =
                format!("no source is named {:?}; there is {:?}", printable(&source), here.as_str());
            return Err(Error::Failed { code: ErrorCode::NotFound, message });
        }
        knowledge.refresh().await
    }
}
