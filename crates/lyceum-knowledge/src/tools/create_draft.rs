//! `create_draft`: proposes a document, as a draft pull request.

use std::time::Duration;

use lyceum_model::Tier;
use lyceum_tools::{Call, Effect, Error, Outcome, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::named;
use crate::{
    DraftSummary, Knowledge,
    drafts::{Approval, NewDocument, Proposal, approval},
};

/// Maximum duration of a call.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The tool.
#[derive(Debug)]
pub(crate) struct CreateDraft;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Type of the document, such as article
    content_type: String,
    /// Title of the document
    title: String,
    /// The document as markdown, without frontmatter
    content: String,
    /// Further fields of the frontmatter, as the type defines them, such as description, tags or group
    #[serde(default)]
    fields: Map<String, Value>,
}

impl Tool for CreateDraft {
    const NAME: &'static str = "create_draft";
    const TITLE: &'static str = "Propose a document for {title}";
    const DESCRIPTION: &'static str = "Propose a new document for the {title} knowledge base. The user is asked to \
        approve the exact text; then it becomes {outcome} for review, and the result has its URL. Calling it again with \
        the same arguments returns the same draft. Nothing is published before a maintainer merges it. Requires \
        vibecoder (contributor) access.";
    const TIER: Tier = Tier::Vibecoder;
    const SCOPES: &'static [&'static str] = &["drafts:write"];
    const EFFECT: Effect = Effect::Writes;

    type Service = Knowledge;
    type Args = Args;
    type Output = Outcome<DraftSummary>;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        let types = knowledge.ontology().types().filter(|one| !one.parent_only).map(|one| one.name.as_str());
        let types: Vec<&str> = types.collect();
        let mut spec = with_outcome(knowledge, spec);
        let property = spec.input_schema.get_mut("properties").and_then(|all| all.get_mut("contentType"));
        if let Some(property) = property.and_then(Value::as_object_mut) {
            property.insert("enum".to_owned(), types.into());
        }
        spec
    }

    fn deadline(_: &Knowledge) -> Option<Duration> {
        Some(TIMEOUT)
    }

    async fn call(knowledge: &Knowledge, call: &Call, args: Args) -> Result<Outcome<DraftSummary>, Error> {
        let document = NewDocument {
            tool: Self::NAME,
            identity: json!([
                call.caller().subject(),
                args.content_type,
                args.title,
                args.content,
                args.fields
            ]),
            content_type: &args.content_type,
            title: &args.title,
            fields: &args.fields,
            content: &args.content,
            is_published: false,
        };
        propose(knowledge, call, &document).await
    }
}

/// Names the knowledge base and what becomes of a draft in a tool's description.
pub(super) fn with_outcome(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
    let outcome = knowledge.options.drafts.as_ref().map_or("a draft", |options| options.outcome());
    spec.description = spec.description.replace("{outcome}", outcome);
    named(knowledge, spec)
}

/// Proposes a document, once a person approved it.
pub(super) async fn propose(
    knowledge: &Knowledge,
    call: &Call,
    document: &NewDocument<'_>,
) -> Result<Outcome<DraftSummary>, Error> {
    knowledge.ready().await?;
    let options = knowledge.draft_options()?;
    let today = Knowledge::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string();
    let proposal = Proposal::new(knowledge.ontology(), options, document, &today)?;
    if let Some(draft) = knowledge.draft(&proposal.id).await? {
        // Approved before; the answer was lost, or it was asked for twice.
        return Ok(Outcome::Done(knowledge.publish_draft(draft).await?.into()));
    }
    knowledge.require_free_path(&proposal).await?;
    match approval(call, options, &proposal)? {
        Approval::Needed(need) => Ok(Outcome::NeedInput(need)),
        Approval::Given => Ok(Outcome::Done(knowledge.submit(call, proposal).await?.into())),
    }
}
