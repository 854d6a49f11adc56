//! `save_link`: proposes a link document, once per page.

use std::time::Duration;

use lyceum_model::Tier;
use lyceum_tools::{Call, Effect, Error, Outcome, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::create_draft::{CreateDraft, propose, with_outcome};
use crate::{
    DraftSummary, Knowledge,
    drafts::{LINK, LinkUrl, NewDocument},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct SaveLink;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// URL to save
    url: String,
    /// Link title
    title: String,
    /// Brief description
    #[serde(default)]
    description: Option<String>,
}

/// The result: the document or the draft of the link.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SavedLink {
    /// The URL, without fragment and tracking parameters
    url: String,
    /// The document of this link, if there is one already
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<LinkDocument>,
    /// The draft of this link, otherwise
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<DraftSummary>,
}

/// A link that is in the knowledge base.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LinkDocument {
    /// Its type
    content_type: String,
    /// Its id
    id: String,
    /// Its title
    title: String,
    /// Its file
    path: String,
}

impl Tool for SaveLink {
    const NAME: &'static str = "save_link";
    const TITLE: &'static str = "Save a link to {title}";
    const DESCRIPTION: &'static str = "Save a new link to the library of {title}. A link that is there already is \
        returned instead. The user is asked to approve the exact text; then it becomes {outcome} for review, and the \
        result has its URL. Requires member access.";
    const TIER: Tier = Tier::Member;
    const SCOPES: &'static [&'static str] = &["links:write"];
    const EFFECT: Effect = Effect::Writes;

    type Service = Knowledge;
    type Args = Args;
    type Output = Outcome<SavedLink>;

    fn contract(knowledge: &Knowledge, spec: ToolSpec) -> ToolSpec {
        with_outcome(knowledge, spec)
    }

    fn deadline(knowledge: &Knowledge) -> Option<Duration> {
        CreateDraft::deadline(knowledge)
    }

    async fn call(knowledge: &Knowledge, call: &Call, args: Args) -> Result<Outcome<SavedLink>, Error> {
        let link = LinkUrl::parse(&args.url)
            .map_err(|why| Error::invalid("arguments.url", format!("url: {why}")))?;
        let url = link.as_str().to_owned();
        if let Some(document) = document_of(knowledge, &link).await? {
            return Ok(Outcome::Done(SavedLink { url, document: Some(document), draft: None }));
        }
        let mut fields = Map::from_iter([("url".to_owned(), Value::from(link.as_str()))]);
        let description = args.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
        fields.extend(description.map(|text| ("description".to_owned(), text.into())));
        let document = NewDocument {
            tool: Self::NAME,
            // One draft per page, whoever saves it.
            identity: json!([link.key()]),
            content_type: LINK,
            title: &args.title,
            fields: &fields,
            content: description.unwrap_or_default(),
            is_published: true,
        };
        let outcome = propose(knowledge, call, &document).await?;
        Ok(outcome.map(|draft| SavedLink { url, document: None, draft: Some(draft) }))
    }
}

/// The document that has this link.
async fn document_of(knowledge: &Knowledge, link: &LinkUrl) -> Result<Option<LinkDocument>, Error> {
    let (snapshot, key) = (knowledge.ready().await?, link.key());
    let mut links = snapshot.catalog.entries().iter().filter(|entry| entry.summary.content_type == LINK);
    let is_same = |url: &str| LinkUrl::parse(url).is_ok_and(|other| other.key() == key);
    let found = links.find(|entry| entry.metadata.get("url").and_then(Value::as_str).is_some_and(is_same));
    Ok(found.map(|entry| LinkDocument {
        content_type: entry.summary.content_type.clone(),
        id: entry.summary.id.clone(),
        title: entry.summary.title.clone(),
        path: entry.summary.path.to_string(),
    }))
}
