//! Asks the person behind a client to approve the exact text of a draft.
//!
//! The request for input carries the hash of the text as sealed state; an answer without that state, or to another
//! text, counts for nothing and the person is asked again.

use lyceum_model::ErrorCode;
use lyceum_tools::{Call, Error, NeedInput, mcp::InputRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{DraftOptions, Proposal};

/// The key of the question.
const KEY: &str = "approval";

/// What the person said.
#[derive(Debug)]
pub(crate) enum Approval {
    /// They approve the text.
    Given,
    /// They were not asked yet.
    Needed(NeedInput),
}

/// The answer to a form.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum Answer {
    Accept { content: Content },
    Decline,
    Cancel,
}

#[derive(Deserialize)]
struct Content {
    approve: bool,
}

/// Whether the person approves; an error if they refuse, or can't be asked.
pub(crate) fn approval(call: &Call, options: &DraftOptions, proposal: &Proposal) -> Result<Approval, Error> {
    let state = json!({ "draft": proposal.id, "sha256": proposal.sha256() });
    if call.input().state.as_ref() == Some(&state)
        && let Some(answer) = call.input().answer::<Answer>(KEY)
    {
        return match answer {
            Answer::Accept { content: Content { approve: true } } => Ok(Approval::Given),
            Answer::Accept { .. } | Answer::Decline | Answer::Cancel => Err(refused()),
        };
    }
    if call.client().elicitation.is_none() {
        let message = "a person has to approve the exact text first, and this client can't ask them; use an MCP client \
                       that supports elicitation";
        return Err(Error::Failed { code: ErrorCode::ValidationError, message: message.to_owned() });
    }
    let request = question(options, proposal)?;
    Ok(Approval::Needed(NeedInput::ask(KEY, request).with_state(state)))
}

fn question(options: &DraftOptions, proposal: &Proposal) -> Result<InputRequest, Error> {
    let message = format!(
        "Propose this file for {}, as {}?\n\n{}\n\n{}",
        options.repository(),
        options.outcome(),
        proposal.path,
        proposal.text
    );
    let approve = json!({ "type": "boolean", "title": "Approve this text", "default": false });
    let schema: Value =
        json!({ "type": "object", "properties": { "approve": approve }, "required": ["approve"] });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    serde_json::from_value(json!({ "method": "elicitation/create", "params": params }))
        .map_err(Error::internal)
}

fn refused() -> Error {
    let message = "the person did not approve the text; nothing was proposed";
    Error::Failed { code: ErrorCode::Forbidden, message: message.to_owned() }
}
