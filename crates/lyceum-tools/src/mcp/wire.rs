//! Conversion to protocol types.

use std::sync::Arc;

use rmcp::model::{ClientCapabilities, InputRequest, Tool, ToolAnnotations};

use crate::{Effect, ToolSpec};

/// A tool as it appears in `tools/list`.
pub(crate) fn wire_tool(spec: &ToolSpec) -> Tool {
    let mut tool =
        Tool::new(spec.name.clone(), spec.description.clone(), Arc::new(spec.input_schema.clone()));
    tool.title = Some(spec.title.clone());
    tool.output_schema = spec.output_schema.clone().map(Arc::new);
    tool.annotations = Some(
        ToolAnnotations::new()
            .read_only(spec.effect == Effect::Reads)
            .destructive(spec.effect == Effect::Destroys)
            .open_world(false),
    );
    tool
}

/// Adds the capabilities that `request` needs and the client did not declare to `missing`.
pub(crate) fn require(missing: &mut ClientCapabilities, client: &ClientCapabilities, request: &InputRequest) {
    match request {
        InputRequest::Elicitation(_) if client.elicitation.is_none() => {
            missing.elicitation = Some(Default::default());
        }
        InputRequest::CreateMessage(_) if client.sampling.is_none() => {
            missing.sampling = Some(Default::default());
        }
        InputRequest::ListRoots(_) if client.roots.is_none() => {
            missing.roots = Some(Default::default());
        }
        _ => {}
    }
}

/// The names of the capabilities, for an error message.
pub(crate) fn describe(needed: &ClientCapabilities) -> String {
    let names = [
        (needed.elicitation.is_some(), "elicitation"),
        (needed.sampling.is_some(), "sampling"),
        (needed.roots.is_some(), "roots"),
    ];
    let names: Vec<&str> = names.iter().filter_map(|(needed, name)| needed.then_some(*name)).collect();
    names.join(" and ")
}
