//! A user's grants: listing and revoking.

use jiff::Timestamp;
use lyceum_store::{
    Db, DbError, Tx,
    grants::{self, Grant},
};
use serde::Serialize;

use super::Auth;
use crate::{audit::Event, ens::Profile};

/// A user with their grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Subject.
    pub subject: String,
    /// Public profile, as of the last sign-in.
    #[serde(flatten)]
    pub profile: Profile,
    /// Grants, one per authorization of a client.
    pub grants: Vec<ClientGrant>,
}

/// A grant, as shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientGrant {
    /// Grant id.
    pub id: String,
    /// Subject who granted it.
    pub subject: String,
    /// Client id.
    pub client_id: String,
    /// Name of the client, as given by itself.
    pub client_name: Option<String>,
    /// Resource it is for.
    pub resource: String,
    /// Granted scopes.
    pub scope: String,
    /// Creation time.
    pub created: Timestamp,
    /// Expiry.
    pub expires: Timestamp,
}

impl From<Grant> for ClientGrant {
    fn from(grant: Grant) -> Self {
        Self {
            id: grant.id,
            subject: grant.subject,
            client_id: grant.client,
            client_name: grant.client_name,
            resource: grant.resource,
            scope: grant.scopes,
            created: grant.created,
            expires: grant.expires,
        }
    }
}

/// Revokes grants on behalf of the operator.
pub async fn end_grants(db: &Db, grants: Vec<Grant>, now: Timestamp) -> Result<(), DbError> {
    db.write("grants", move |tx| grants.iter().try_for_each(|grant| revoke(tx, grant, now))).await
}

fn revoke(tx: &Tx<'_>, grant: &Grant, now: Timestamp) -> Result<(), DbError> {
    grants::revoke(tx, &grant.id)?;
    Event::revoked(grant).write(tx, now)
}

impl Auth {
    /// Lists the grants of a subject; with `client`, only those of that client.
    pub async fn account(
        &self,
        subject: &str,
        client: Option<&str>,
        now: Timestamp,
    ) -> Result<Account, DbError> {
        let owner = subject.to_owned();
        let mut grants = self.0.db.read(move |tx| grants::list(tx, Some(&owner), now)).await?;
        grants.retain(|grant| client.is_none_or(|client| grant.client == client));
        let facts = grants.first().and_then(|newest| serde_json::from_str(&newest.facts).ok());
        Ok(Account {
            subject: subject.to_owned(),
            profile: facts.unwrap_or_default(),
            grants: grants.into_iter().map(ClientGrant::from).collect(),
        })
    }

    /// Revokes a grant of a subject; returns whether it existed. With `client`, only a grant of that client.
    pub async fn end_grant(
        &self,
        subject: &str,
        client: Option<&str>,
        id: &str,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let (subject, client, id) = (subject.to_owned(), client.map(str::to_owned), id.to_owned());
        let about = format!("grant:{id}");
        let revoked = self.write(&about, move |tx| {
            let is_own = |grant: &Grant| {
                grant.id == id && client.as_ref().is_none_or(|client| grant.client == *client)
            };
            let own = grants::list(tx, Some(&subject), now)?.into_iter().find(is_own);
            let Some(grant) = own else { return Ok(false) };
            revoke(tx, &grant, now)?;
            Ok(true)
        });
        let revoked = revoked.await?;
        self.0.token_cache.clear();
        Ok(revoked)
    }
}
