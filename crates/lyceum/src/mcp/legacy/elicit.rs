//! Elicitation over an open session, for earlier protocol versions.

use std::{collections::BTreeMap, time::Duration};

use lyceum_tools::NeedInput;
use rmcp::{
    RoleServer,
    model::{ErrorData, InputRequest, ServerRequest},
    service::{Peer, PeerRequestOptions},
};
use serde_json::Value;

/// How long a user may take to respond, as in MCP 2026-07-28.
const ELICITATION_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Sends each request in turn and returns the responses by their keys.
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
            _ => return Err(ErrorData::internal_error("unknown kind of input request", None)),
        };
        let mut options = PeerRequestOptions::no_options();
        options.timeout = Some(ELICITATION_TIMEOUT);
        let pending =
            peer.send_request_with_option(request, options).await.map_err(|error| no_response(&error))?;
        let answer = pending.await_response().await.map_err(|error| no_response(&error))?;
        answers.insert(key, serde_json::to_value(answer).unwrap_or_default());
    }
    Ok(answers)
}

fn no_response(error: &rmcp::ServiceError) -> ErrorData {
    tracing::debug!(%error, "the client did not respond to a request for user input");
    ErrorData::invalid_request("the client did not respond to a request for user input", None)
}
