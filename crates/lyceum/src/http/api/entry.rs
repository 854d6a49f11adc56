//! `GET /api/v1/entries/{contentType}/{id}`: one document, as JSON or as markdown.

use axum::{extract::Request, response::Response};
use bytes::Bytes;
use http::{HeaderValue, header};
use lyceum_content::knowledge::MAX_PATH_ID_BYTES;
use lyceum_knowledge::{Document, DocumentBytes};
use lyceum_model::ErrorCode;
use lyceum_tools::{Error, mcp::printable};
use schemars::JsonSchema;

use super::{
    Api,
    accept::{DocumentFormat, negotiate},
    cached::{self, ETag},
    endpoint::{Endpoint, EndpointAccess, ResponseFormat, Verb, inline, named},
    openapi::ContentTypeName,
    query::{percent_decoded, unknown_type},
};
use crate::http::ApiError;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: "/api/v1/entries/{contentType}/{*id}",
    access: EndpointAccess::Documents,
    handler: |api, request| Box::pin(read(api, request)),
    id: "getEntry",
    summary: "Read a document",
    description: "Returns the full document. With `Accept: text/markdown` the response is markdown, with provenance as \
                  YAML frontmatter.",
    in_path: Some(inline::<EntryPath>),
    in_query: None,
    responses: &[
        ResponseFormat { kind: "application/json", schema: named::<Document> },
        ResponseFormat { kind: DocumentFormat::Markdown.kind(), schema: inline::<String> },
        ResponseFormat { kind: DocumentFormat::Plain.kind(), schema: inline::<String> },
    ],
    links: &[],
    refusals: &[
        (ErrorCode::ValidationError, "The type is unknown; the message lists the types."),
        (ErrorCode::NotFound, "No published document of this type has this id."),
    ],
};

/// The path parameters, for OpenAPI.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only used for OpenAPI; the handler parses the path itself")]
#[schemars(rename_all = "camelCase")]
struct EntryPath {
    /// The type of the document.
    content_type: ContentTypeName,
    /// Its id, unique within the type. That of a plain document is its path, such as `en/settings`; its slashes may be
    /// written as they are.
    #[schemars(length(min = 1, max = MAX_PATH_ID_BYTES), regex(pattern = "^[a-z0-9._/-]+$"))]
    id: String,
}

async fn read(api: Api, request: Request) -> Result<Response, ApiError> {
    let knowledge = api.base.knowledge();
    let rest = api.path(&request).strip_prefix("/api/v1/entries/").unwrap_or_default();
    let (content_type, id) = rest.split_once('/').unwrap_or((rest, ""));
    // A segment that is not valid UTF-8 names nothing.
    let (content_type, id) =
        (&*percent_decoded(content_type).unwrap_or_default(), &*percent_decoded(id).unwrap_or_default());
    if knowledge.ontology().get(content_type).is_none() {
        return Err(unknown_type(knowledge.ontology(), content_type));
    }
    let snapshot = super::catalog(knowledge).await?;
    let Some(entry) = snapshot.catalog.get(content_type, id) else {
        let (kind, id) = (content_type, printable(id));
        let message =
            format!("no {kind} has the id {id:?}; GET /api/v1/entries?contentType={kind} lists them");
        return Err(ApiError::new(ErrorCode::NotFound, message));
    };
    let format = negotiate(request.headers());
    // The ETag contains the hash of the document, so a client that has it costs no read of the document.
    let tag = |hash: &str| ETag::named(&[hash, format.suffix()].concat());
    let known = tag(&entry.hash);
    let mut response = if known.matches(request.headers()) {
        cached::not_modified(known)
    } else {
        // If the document has changed meanwhile, its hash differs.
        let DocumentBytes { hash, bytes } =
            knowledge.document_bytes(entry).await.map_err(|error| super::failed(&error))?;
        let body = match format {
            DocumentFormat::Json => Bytes::from_owner(bytes),
            DocumentFormat::Markdown | DocumentFormat::Plain => {
                let document = serde_json::from_slice(&bytes).map_err(Error::internal);
                let document: Document = document.map_err(|error| super::failed(&error))?;
                document.to_markdown().into()
            }
        };
        cached::full(tag(&hash), format.kind(), body)
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}
