//! An endpoint: what is mounted and what is told of it, in one place.

use axum::{extract::Request, response::Response};
use futures::future::BoxFuture;
use lyceum_model::ErrorCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::Api;
use crate::http::ApiError;

/// What answers.
pub(crate) type Handler = fn(Api, Request) -> BoxFuture<'static, Result<Response, ApiError>>;

/// Makes a schema.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// An endpoint, whole.
pub(crate) struct Endpoint {
    /// How it is asked.
    pub verb: Verb,
    /// Where it is, with parameters in braces.
    pub path: &'static str,
    /// Whom it is for.
    pub access: EndpointAccess,
    /// What answers.
    pub handler: Handler,
    /// Its name in programs that are made from the description.
    pub id: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// The same in sentences.
    pub description: &'static str,
    /// The parameters in the path: the properties of this schema.
    pub in_path: Option<SchemaOf>,
    /// The parameters in the query: the properties of this schema.
    pub in_query: Option<SchemaOf>,
    /// Its good answer, in each form that can be had.
    pub answers: &'static [Form],
    /// Where an answer leads on to.
    pub links: &'static [Link],
    /// How it refuses, besides what any request can meet.
    pub refusals: &'static [(ErrorCode, &'static str)],
}

/// Whom an endpoint is for; the gate decides by it before the handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndpointAccess {
    /// Everyone who may read what is public: it tells nothing of what is in a document.
    Public,
    /// Whoever may read documents here, as `[knowledge] api` says.
    Readers,
    /// Whoever may call the tool behind it, which asks the gate itself.
    OfTool,
}

/// A form of an answer.
pub(crate) struct Form {
    /// The media type.
    pub kind: &'static str,
    /// What it looks like.
    pub schema: SchemaOf,
}

/// A way on from an answer to another endpoint.
pub(crate) struct Link {
    /// What the link is called.
    pub name: &'static str,
    /// The endpoint, by its id.
    pub to: &'static str,
    /// The parameters there, and where in the answer they stand, as OpenAPI says it.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// How an endpoint is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Reads, with HEAD too; the answer may be kept.
    Get,
    /// Does something.
    Post,
}

impl Verb {
    /// Its name in the description.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}

/// The schema of a type: a reference, where it has a name.
pub(super) fn named<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The schema of a type, spelled out.
pub(super) fn inline<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}
