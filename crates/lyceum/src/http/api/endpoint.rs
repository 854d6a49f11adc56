//! An endpoint: its route, handler and OpenAPI description in one value.

use axum::{extract::Request, response::Response};
use futures::future::BoxFuture;
use lyceum_model::ErrorCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::Api;
use crate::http::ApiError;

/// The handler of an endpoint.
pub(crate) type Handler = fn(Api, Request) -> BoxFuture<'static, Result<Response, ApiError>>;

/// A function that generates a schema.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// An endpoint.
pub(crate) struct Endpoint {
    /// HTTP method.
    pub verb: Verb,
    /// Path, with parameters in braces.
    pub path: &'static str,
    /// Who may use it.
    pub access: EndpointAccess,
    pub handler: Handler,
    /// `operationId` in OpenAPI.
    pub id: &'static str,
    /// A few words.
    pub summary: &'static str,
    /// Full sentences.
    pub description: &'static str,
    /// Path parameters: the properties of this schema.
    pub in_path: Option<SchemaOf>,
    /// Query parameters: the properties of this schema.
    pub in_query: Option<SchemaOf>,
    /// Success response, in each format.
    pub responses: &'static [ResponseFormat],
    /// OpenAPI links from the response.
    pub links: &'static [Link],
    /// Errors, besides those of every request.
    pub refusals: &'static [(ErrorCode, &'static str)],
}

/// Who may use an endpoint. Permissions are checked before the handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndpointAccess {
    /// Everyone who may list and search, according to `[knowledge] public`.
    Summaries,
    /// Everyone who may read full documents, according to `[knowledge] public`.
    Documents,
    /// Everyone who may call the tool behind it, which checks permissions itself.
    OfTool,
}

/// A format of a response.
pub(crate) struct ResponseFormat {
    /// The media type.
    pub kind: &'static str,
    /// Schema of the body.
    pub schema: SchemaOf,
}

/// An OpenAPI link from a response to another endpoint.
pub(crate) struct Link {
    /// Name of the link.
    pub name: &'static str,
    /// `operationId` of the endpoint.
    pub to: &'static str,
    /// Its parameters, as OpenAPI runtime expressions on the response.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// HTTP method of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Reads, also with HEAD; the response is cacheable.
    Get,
    /// Has side effects.
    Post,
}

impl Verb {
    /// The name in OpenAPI.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}

/// The schema of a type, as a reference if it has a name.
pub(super) fn named<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The schema of a type, inline.
pub(super) fn inline<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}
