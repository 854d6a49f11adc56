//! Audit events: sign-ins, grants, refusals and writes. Each has subject, client and details; never a secret.

use alloy_primitives::hex;
use jiff::Timestamp;
use lyceum_store::{
    DbError, Tx,
    audit::{self, NewAuditRow},
    grants::Grant,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Maximum number of characters of a client id in the log.
const MAX_CLIENT_ID_CHARS: usize = 64;

/// An audit event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    kind: &'static str,
    subject: Option<String>,
    client: Option<String>,
    detail: Value,
}

impl Event {
    /// A user authenticated, and granted a client access.
    pub(crate) fn signed_in(grant: &Grant, given: &str, way: &str) -> Self {
        let detail =
            json!({ "way": way, "scopes": given, "allowed": grant.scopes, "resource": grant.resource });
        Self::of_grant("sign_in", grant, detail)
    }

    /// Authentication failed.
    pub(crate) fn sign_in_refused(subject: Option<String>, client: &str, why: &str) -> Self {
        let client = Some(truncate_client_id(client));
        Self { kind: "sign_in_refused", subject, client, detail: json!({ "why": why }) }
    }

    /// A user denied access to a client.
    pub(crate) fn denied(client: &str) -> Self {
        Self { kind: "denied", subject: None, client: Some(truncate_client_id(client)), detail: json!({}) }
    }

    /// A client exchanged its code for the first tokens.
    pub(crate) fn granted(grant: &Grant, given: &str) -> Self {
        Self::of_grant("grant", grant, json!({ "scopes": given, "resource": grant.resource }))
    }

    /// A code was replayed.
    pub(crate) fn code_replayed(grant: &Grant) -> Self {
        Self::of_grant("code_replayed", grant, json!({}))
    }

    /// A refresh token was reused.
    pub(crate) fn refresh_reused(grant: &Grant) -> Self {
        Self::of_grant("refresh_reused", grant, json!({}))
    }

    /// A grant was revoked.
    pub(crate) fn revoked(grant: &Grant) -> Self {
        Self::of_grant("revoked", grant, json!({}))
    }

    /// The gate refused a call.
    pub fn refused(subject: &str, what: &str, why: &str) -> Self {
        let subject = Some(subject.to_owned());
        Self { kind: "refused", subject, client: None, detail: json!({ "what": what, "why": why }) }
    }

    /// A tool that writes was called.
    pub fn wrote(subject: &str, tool: &str, outcome: &str) -> Self {
        let subject = Some(subject.to_owned());
        Self { kind: "wrote", subject, client: None, detail: json!({ "tool": tool, "outcome": outcome }) }
    }

    /// A person approved an action, which now begins.
    pub fn approved(subject: &str, tool: &str, action: &str, what: &str) -> Self {
        let detail = json!({ "tool": tool, "action": action, "what": what });
        Self { kind: "approved", subject: Some(subject.to_owned()), client: None, detail }
    }

    /// Adds the number of earlier events of the subject that were omitted by the rate limit.
    #[must_use]
    pub fn after_left_out(mut self, count: u64) -> Self {
        if let (1.., Some(detail)) = (count, self.detail.as_object_mut()) {
            detail.insert("leftOut".to_owned(), count.into());
        }
        self
    }

    /// Appends the event to the audit log.
    pub(crate) fn write(&self, tx: &Tx<'_>, now: Timestamp) -> Result<(), DbError> {
        let line = NewAuditRow {
            at: now,
            kind: self.kind,
            subject: self.subject.clone(),
            client: self.client.clone(),
            detail: self.detail.to_string(),
        };
        audit::add(tx, &line)
    }

    fn of_grant(kind: &'static str, grant: &Grant, mut detail: Value) -> Self {
        if let Some(detail) = detail.as_object_mut() {
            detail.insert("grant".to_owned(), grant.id.clone().into());
            if let Some(name) = &grant.client_name {
                detail.insert("clientName".to_owned(), name.clone().into());
            }
        }
        Self {
            kind,
            subject: Some(grant.subject.clone()),
            client: Some(truncate_client_id(&grant.client)),
            detail,
        }
    }
}

/// Truncates a client id. Ids of registered clients have up to 4096 characters; the first ones plus a hash
/// identify them as well.
fn truncate_client_id(client: &str) -> String {
    let Some((end, _)) = client.char_indices().nth(MAX_CLIENT_ID_CHARS) else { return client.to_owned() };
    let hash = hex::encode(Sha256::digest(client.as_bytes()).first_chunk::<4>().unwrap_or(&[0; 4]));
    format!("{}…{hash}", client.get(..end).unwrap_or_default())
}
