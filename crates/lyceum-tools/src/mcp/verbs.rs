//! MCP methods over a view, the same for every protocol version.

use std::collections::BTreeMap;

use lyceum_model::ErrorCode;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ReadResourceResult, Reference,
};
use serde_json::Value;

use super::{error::failed_json_result, failed_result};
use crate::{CallContext, Error, Faults, Outcome, ToolResult, View};

/// `tools/list`.
pub fn list_tools(view: &View, cursor: Option<&str>) -> Result<ListToolsResult, Error> {
    let page = view.tool_page(cursor)?;
    let tools = page.entries.into_iter().map(|tool| tool.wire().clone()).collect();
    Ok(ListToolsResult { next_cursor: page.next, ..ListToolsResult::with_all_items(tools) })
}

/// `resources/list`.
pub fn list_resources(view: &View, cursor: Option<&str>) -> Result<ListResourcesResult, Error> {
    let page = view.resource_page(cursor)?;
    let resources = page.entries.into_iter().map(|entry| entry.wire.clone()).collect();
    Ok(ListResourcesResult { next_cursor: page.next, ..ListResourcesResult::with_all_items(resources) })
}

/// `resources/templates/list`.
pub fn list_templates(view: &View, cursor: Option<&str>) -> Result<ListResourceTemplatesResult, Error> {
    let page = view.template_page(cursor)?;
    let templates = page.entries.into_iter().map(|entry| entry.wire.clone()).collect();
    Ok(ListResourceTemplatesResult {
        next_cursor: page.next,
        ..ListResourceTemplatesResult::with_all_items(templates)
    })
}

/// `prompts/list`.
pub fn list_prompts(view: &View, cursor: Option<&str>) -> Result<ListPromptsResult, Error> {
    let page = view.prompt_page(cursor)?;
    let prompts = page.entries.into_iter().map(|entry| entry.wire.clone()).collect();
    Ok(ListPromptsResult { next_cursor: page.next, ..ListPromptsResult::with_all_items(prompts) })
}

/// `tools/call`, with errors reported as the tool declares.
pub async fn call_tool(
    view: &View,
    name: &str,
    arguments: JsonObject,
    context: CallContext,
) -> Result<Outcome<ToolResult>, Error> {
    match view.call(name, arguments, context).await {
        Err(error) if is_result(&error, view.faults_of(name)) => {
            let result = match view.faults_of(name) {
                Faults::InResultAsJson => failed_json_result(&error),
                Faults::InResult | Faults::InResultUnlessDenied | Faults::AsProtocolError => {
                    failed_result(&error)
                }
            };
            Ok(Outcome::Done(result.into()))
        }
        outcome => outcome,
    }
}

/// A missing client capability is a protocol error, and an unknown tool declares nothing.
fn is_result(error: &Error, faults: Faults) -> bool {
    let in_result = match faults {
        Faults::InResult | Faults::InResultAsJson => true,
        Faults::InResultUnlessDenied => !matches!(error, Error::Denied(_)),
        Faults::AsProtocolError => false,
    };
    in_result && error.code() != ErrorCode::ToolNotFound && !matches!(error, Error::ClientCannot { .. })
}

/// `resources/read`.
pub async fn read_resource(
    view: &View,
    uri: &str,
    context: CallContext,
) -> Result<Outcome<ReadResourceResult>, Error> {
    view.read(uri, context).await
}

/// `prompts/get`.
pub async fn get_prompt(
    view: &View,
    name: &str,
    arguments: JsonObject,
    context: CallContext,
) -> Result<Outcome<GetPromptResult>, Error> {
    let arguments: Result<BTreeMap<String, String>, Error> = arguments
        .into_iter()
        .map(|(key, value)| match value {
            Value::String(text) => Ok((key, text)),
            _ => {
                Err(Error::invalid(format!("arguments.{key}"), format!("arguments.{key}: must be a string")))
            }
        })
        .collect();
    view.prompt(name, arguments?, context).await
}

/// Calls an extension method.
pub async fn call_method(
    view: &View,
    method: &str,
    params: JsonObject,
    context: CallContext,
) -> Result<JsonObject, Error> {
    view.call_method(method, params, context).await
}

/// `completion/complete`.
pub fn complete(view: &View, params: &CompleteRequestParams) -> Result<CompleteResult, Error> {
    let (argument, typed) = (&params.argument.name, &params.argument.value);
    let mut values = match &params.r#ref {
        Reference::Prompt(prompt) => view.complete_prompt(&prompt.name, argument, typed)?,
        Reference::Resource(resource) => view.complete_template(&resource.uri, argument, typed)?,
        _ => return Err(Error::invalid("ref.type", "ref.type: must be ref/prompt or ref/resource")),
    };
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let more = total > values.len();
    let info =
        CompletionInfo::with_pagination(values, u32::try_from(total).ok(), more).map_err(Error::internal)?;
    Ok(CompleteResult::new(info))
}
