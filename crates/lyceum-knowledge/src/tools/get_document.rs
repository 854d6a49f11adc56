//! `get_document`: a full document.

use jiff::Timestamp;
use lyceum_content::knowledge::{Catalog, near_documents};
use lyceum_model::ErrorCode;
use lyceum_tools::{Call, Error, Tool, ToolSpec, mcp::printable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{documents, with};
use crate::{Document, Knowledge};

/// Maximum number of suggestions if there is no such document.
const MAX_SUGGESTIONS: usize = 5;

/// The tool.
#[derive(Debug)]
pub(crate) struct GetDocument;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Args {
    /// Content type of the document
    content_type: String,
    /// Document ID
    #[schemars(length(min = 1, max = 500))]
    id: String,
}

/// The output: the stored document, with provenance under the same keys as in other results.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The title.
    title: String,
    #[serde(flatten)]
    document: Document,
    /// The same as `commitSha`.
    commit: String,
    /// The same as `syncedAt`.
    #[schemars(with = "String", extend("format" = "date-time"))]
    synced_at: Timestamp,
}

impl Tool for GetDocument {
    const NAME: &'static str = "get_document";
    const TITLE: &'static str = "Get a document of {title}";
    const DESCRIPTION: &'static str = "Get the full content of a document by its contentType and ID.";

    type Service = Knowledge;
    type Args = Args;
    type Output = Output;

    /// Lists the content types of the deployment.
    fn contract(knowledge: &Knowledge, mut spec: ToolSpec) -> ToolSpec {
        let types: Vec<&str> = knowledge.ontology().types().map(|one| one.name.as_str()).collect();
        let properties = spec.input_schema.get_mut("properties");
        let property = properties.and_then(|all| all.get_mut("contentType")).and_then(Value::as_object_mut);
        if let Some(property) = property {
            property.insert("enum".to_owned(), types.into());
        }
        let origin = format!("Documents of {} are in the results of search_knowledge.", knowledge.title());
        with(documents(knowledge, spec), &origin)
    }

    async fn call(knowledge: &Knowledge, _: &Call, args: Args) -> Result<Output, Error> {
        let snapshot = knowledge.ready().await?;
        let Some(entry) = snapshot.catalog.get(&args.content_type, &args.id) else {
            let message = not_found(&snapshot.catalog, &args);
            return Err(Error::Failed { code: ErrorCode::NotFound, message });
        };
        let document = knowledge.document(entry).await?;
        Ok(Output {
            title: document.title(),
            commit: document.commit_sha.clone(),
            synced_at: document.synced_at,
            document,
        })
    }
}

/// Suggests similar documents.
fn not_found(catalog: &Catalog, Args { content_type, id }: &Args) -> String {
    let near = near_documents(catalog, content_type, id, MAX_SUGGESTIONS);
    let near: Vec<String> = near.iter().map(|entry| entry.key()).collect();
    let absent = format!("Document not found. No {content_type} has the id {:?}", printable(id));
    match near.is_empty() {
        true => format!("{absent}."),
        false => format!("{absent}; near it are {}.", near.join(", ")),
    }
}
