//! `GET /api/v1/openapi.json`: the OpenAPI description, generated from the endpoint table.

use std::{borrow::Cow, collections::BTreeMap};

use axum::{extract::Request, response::Response};
use lyceum_content::ontology::Ontology;
use lyceum_knowledge::{SCRIPT, SKILL};
use lyceum_model::ErrorCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value, json};

use super::{
    Api, cached,
    endpoint::{Endpoint, EndpointAccess, Link, ResponseFormat, Verb, inline, named},
};
use crate::http::{
    ApiError,
    error::{ErrorBody, status},
};

const KIND: &str = "application/json";

/// Errors that every endpoint can return.
const COMMON_ERRORS: [(ErrorCode, &str); 5] = [
    (ErrorCode::Unauthorized, "Sign-in is required; `WWW-Authenticate` says where."),
    (ErrorCode::ScopeMissing, "The caller lacks a permission; `details` lists it."),
    (ErrorCode::Forbidden, "The `Host` or `Origin` is not allowed."),
    (ErrorCode::InternalError, "A failure in the server."),
    (ErrorCode::Unavailable, "The server is not ready, for example before the first sync; retry later."),
];

const API_DESCRIPTION: &str = "The published documents of a knowledge base, each with the commit it comes from. Reading needs no \
    sign-in unless the operator restricts it: `auth.anonymous = false` requires a token everywhere, \
    `knowledge.public = \"summaries\"` a token with the scope `knowledge:read` for full documents, and \
    `knowledge.public = \"nothing\"` the same for everything. HEAD works like GET; other methods get 405 with `Allow`. Responses carry an \
    `ETag`: send it in `If-None-Match` to get 304 if nothing changed. Errors are \
    `{ error: { code, message, details?, retry_after? } }`; match on `code`.";

pub(super) const ENDPOINT: Endpoint = Endpoint {
    verb: Verb::Get,
    path: "/api/v1/openapi.json",
    access: EndpointAccess::Summaries,
    handler: |api, request| Box::pin(read(api, request)),
    id: "openapi",
    summary: "OpenAPI description",
    description: "This API as OpenAPI 3.1, with the document types of this server.",
    in_path: None,
    in_query: None,
    responses: &[ResponseFormat { kind: KIND, schema: inline::<Map<String, Value>> }],
    links: &[],
    refusals: &[],
};

/// A document type, for OpenAPI; the allowed values depend on the ontology.
pub(super) struct ContentTypeName;

impl ContentTypeName {
    const NAME: &str = "ContentType";

    fn reference() -> Value {
        json!({ "$ref": format!("#/components/schemas/{}", Self::NAME) })
    }
}

impl JsonSchema for ContentTypeName {
    fn schema_name() -> Cow<'static, str> {
        Self::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A document type." })
    }
}

/// A type that search accepts: document types, `skill` and `script`.
pub(super) struct SearchTypeName;

impl SearchTypeName {
    const NAME: &str = "SearchType";
}

impl JsonSchema for SearchTypeName {
    fn schema_name() -> Cow<'static, str> {
        Self::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A document type, `skill` or `script`." })
    }
}

async fn read(api: Api, request: Request) -> Result<Response, ApiError> {
    let describe = || {
        let rows = super::routes(&api.base);
        let described = rows.iter().filter_map(|row| row.doc);
        describe(&api.base.root(), described, api.base.knowledge().ontology()).to_string().into()
    };
    let bytes = api.base.openapi.get_or_init(describe);
    Ok(cached::respond(request.headers(), KIND, bytes.clone()))
}

/// The OpenAPI description of the API, for the document types of an ontology.
pub fn openapi(ontology: &Ontology) -> Value {
    describe("", super::ENDPOINTS.iter(), ontology)
}

/// Describes these endpoints, with paths below `root`.
fn describe<'e>(root: &str, endpoints: impl Iterator<Item = &'e Endpoint>, ontology: &Ontology) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for one in endpoints {
        let operation = operation(one, &mut generator);
        // OpenAPI has no notation for a parameter with slashes.
        let path = one.path.replace("{*", "{");
        paths.entry(format!("{root}{path}")).or_default().insert(one.verb.name().to_owned(), operation);
    }
    let mut schemas = generator.take_definitions(true);
    name_types(&mut schemas, ontology);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "lyceum",
            "description": API_DESCRIPTION,
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

fn operation(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut parameters = Vec::new();
    for (place, schema) in [("path", endpoint.in_path), ("query", endpoint.in_query)] {
        parameters.extend(schema.into_iter().flat_map(|schema| parameters_of(place, schema(generator))));
    }
    let mut responses = refusals(endpoint, generator);
    let mut success = Map::new();
    success.insert("description".to_owned(), endpoint.summary.into());
    success.insert("content".to_owned(), contents(endpoint.responses, generator));
    if !endpoint.links.is_empty() {
        success.insert("links".to_owned(), links(endpoint.links));
    }
    if endpoint.verb == Verb::Get {
        success.insert("headers".to_owned(), headers());
        responses.insert("304".to_owned(), json!({ "description": "Not modified.", "headers": headers() }));
        parameters.push(json!({
            "name": "If-None-Match",
            "in": "header",
            "description": "The `ETag` of a cached response.",
            "schema": { "type": "string" },
        }));
    }
    responses.insert("200".to_owned(), success.into());
    json!({
        "operationId": endpoint.id,
        "summary": endpoint.summary,
        "description": endpoint.description,
        "parameters": parameters,
        "responses": responses,
    })
}

/// Whether a value is optional, in the schema that `schemars` generates for an `Option`.
fn admits_null(schema: &Value) -> bool {
    let is_null = |one: &Value| one == "null" || one.get("type").is_some_and(|kind| kind == "null");
    let listed =
        |key: &str| schema.get(key).and_then(Value::as_array).is_some_and(|all| all.iter().any(is_null));
    listed("type") || listed("anyOf")
}

/// Converts the properties of a schema to OpenAPI parameters.
fn parameters_of(place: &str, schema: Schema) -> Vec<Value> {
    let Value::Object(mut schema) = Value::from(schema) else { return Vec::new() };
    let Some(Value::Object(properties)) = schema.remove("properties") else { return Vec::new() };
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({
            "name": name,
            "in": place,
            "description": description,
            // Path parameters are always required.
            "required": place == "path" || !admits_null(&schema),
            "schema": without_null(schema),
        })
    };
    properties.into_iter().map(parameter).collect()
}

/// Removes the null of an optional value: a URL can't contain one.
fn without_null(mut schema: Value) -> Value {
    if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
        let branch = branches.iter().find(|branch| branch.get("type") != Some(&Value::from("null")));
        return branch.cloned().unwrap_or_default();
    }
    if let Some(kinds) = schema.get_mut("type").filter(|kinds| kinds.is_array()) {
        let kind = kinds.as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null")).cloned();
        *kinds = kind.unwrap_or_default();
    }
    schema
}

fn contents(forms: &[ResponseFormat], generator: &mut SchemaGenerator) -> Value {
    let content = |form: &ResponseFormat| {
        let (kind, _) = form.kind.split_once(';').unwrap_or((form.kind, ""));
        (kind.to_owned(), json!({ "schema": (form.schema)(generator) }))
    };
    Value::Object(forms.iter().map(content).collect())
}

fn links(links: &[Link]) -> Value {
    let link = |link: &Link| {
        let parameters: BTreeMap<_, _> = link.parameters.iter().copied().collect();
        (link.name.to_owned(), json!({ "operationId": link.to, "parameters": parameters }))
    };
    Value::Object(links.iter().map(link).collect())
}

fn refusals(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for (code, reason) in endpoint.refusals.iter().chain(&COMMON_ERRORS) {
        by_status.entry(status(*code).as_u16()).or_default().push(reason);
    }
    let content = contents(&[ResponseFormat { kind: KIND, schema: named::<ErrorBody> }], generator);
    let refusal = |(status, reasons): (u16, Vec<&str>)| {
        (status.to_string(), json!({ "description": reasons.join(" Or: "), "content": content }))
    };
    by_status.into_iter().map(refusal).collect()
}

/// The headers of a cacheable response.
fn headers() -> Value {
    let header = |description: &str| json!({ "description": description, "required": true, "schema": { "type": "string" } });
    json!({
        "ETag": header("Version of the content."),
        "Cache-Control": header("Cache lifetime."),
    })
}

/// Adds the names of the document types to the schemas.
fn name_types(schemas: &mut Map<String, Value>, ontology: &Ontology) {
    let names: Vec<&str> = ontology.types().map(|one| one.name.as_str()).collect();
    if let Some(schema) = schemas.get_mut(ContentTypeName::NAME).and_then(Value::as_object_mut) {
        schema.insert("enum".to_owned(), json!(names));
    }
    let searched: Vec<&str> = names.iter().copied().chain([SKILL, SCRIPT]).collect();
    if let Some(schema) = schemas.get_mut(SearchTypeName::NAME).and_then(Value::as_object_mut) {
        schema.insert("enum".to_owned(), json!(searched));
    }
    // A search hit may be a skill instead of a document, and facets count by type.
    for (_, schema) in
        schemas.iter_mut().filter(|(name, _)| !["SearchHit", "FacetCounts"].contains(&name.as_str()))
    {
        if let Some(named) = schema.pointer_mut("/properties/contentType") {
            *named = ContentTypeName::reference();
        }
    }
}
