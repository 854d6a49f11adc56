//! Puts a tool's questions to the person behind an older client, over the open session.

use std::{collections::BTreeMap, time::Duration};

use lyceum_tools::NeedInput;
use rmcp::{
    RoleServer,
    model::{ErrorData, InputRequest, ServerRequest},
    service::{Peer, PeerRequestOptions},
};
use serde_json::Value;

/// How long a person may take to answer, as in the modern era.
const ELICITATION_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Asks each question in turn and returns the answers by their keys.
pub(super) async fn elicit(
    peer: &Peer<RoleServer>,
    need: NeedInput,
) -> Result<BTreeMap<String, Value>, ErrorData> {
    let mut answers = BTreeMap::new();
    for (key, request) in need.requests {
        let request = match request {
            InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
            InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
            InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
            _ => return Err(ErrorData::internal_error("a question of an unknown kind", None)),
        };
        let mut options = PeerRequestOptions::no_options();
        options.timeout = Some(ELICITATION_TIMEOUT);
        let pending =
            peer.send_request_with_option(request, options).await.map_err(|error| unanswered(&error))?;
        let answer = pending.await_response().await.map_err(|error| unanswered(&error))?;
        answers.insert(key, serde_json::to_value(answer).unwrap_or_default());
    }
    Ok(answers)
}

fn unanswered(error: &rmcp::ServiceError) -> ErrorData {
    tracing::debug!(%error, "a client did not answer a question");
    ErrorData::invalid_request("the client did not answer a question that this call needs", None)
}
