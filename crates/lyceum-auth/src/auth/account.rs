//! What somebody allowed, for them to look at and to take back.

use jiff::Timestamp;
use lyceum_store::{
    Db, DbError, Tx,
    grants::{self, Grant},
};
use serde::Serialize;

use super::Auth;
use crate::{audit::Event, ens::Profile};

/// Somebody, and what they allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Who they are.
    pub subject: String,
    /// What is told of them elsewhere, as it was at their last sign-in.
    #[serde(flatten)]
    pub profile: Profile,
    /// The programs that may act for them.
    pub grants: Vec<ClientGrant>,
}

/// What somebody allowed one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientGrant {
    /// Its id.
    pub id: String,
    /// Who allowed it.
    pub subject: String,
    /// The program.
    pub client_id: String,
    /// What the program calls itself.
    pub client_name: Option<String>,
    /// What it may use.
    pub resource: String,
    /// What it may do.
    pub scope: String,
    /// Since when.
    pub created: Timestamp,
    /// Until when.
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

/// Ends grants, as the operator does.
pub async fn end_grants(db: &Db, meant: Vec<Grant>, now: Timestamp) -> Result<(), DbError> {
    db.write(move |tx| meant.iter().try_for_each(|grant| end(tx, grant, now))).await
}

fn end(tx: &Tx<'_>, grant: &Grant, now: Timestamp) -> Result<(), DbError> {
    grants::end(tx, &grant.id)?;
    Event::revoked(grant).write(tx, now)
}

impl Auth {
    /// What somebody allowed; where a program asks, only what it was allowed itself.
    pub async fn account(
        &self,
        subject: &str,
        client: Option<&str>,
        now: Timestamp,
    ) -> Result<Account, DbError> {
        let wanted = subject.to_owned();
        let mut grants = self.0.db.read(move |tx| grants::list(tx, Some(&wanted), now)).await?;
        grants.retain(|grant| client.is_none_or(|client| grant.client == client));
        let facts = grants.first().and_then(|newest| serde_json::from_str(&newest.facts).ok());
        Ok(Account {
            subject: subject.to_owned(),
            profile: facts.unwrap_or_default(),
            grants: grants.into_iter().map(ClientGrant::from).collect(),
        })
    }

    /// Takes back what somebody allowed; says whether there was such a thing of theirs. A program ends only its own.
    pub async fn end_grant(
        &self,
        subject: &str,
        client: Option<&str>,
        id: &str,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let (subject, client, id) = (subject.to_owned(), client.map(str::to_owned), id.to_owned());
        let ended = self.0.db.write(move |tx| {
            let is_own = |grant: &Grant| {
                grant.id == id && client.as_ref().is_none_or(|client| grant.client == *client)
            };
            let own = grants::list(tx, Some(&subject), now)?.into_iter().find(is_own);
            let Some(grant) = own else { return Ok(false) };
            end(tx, &grant, now)?;
            Ok(true)
        });
        let ended = ended.await?;
        self.0.checked.clear();
        Ok(ended)
    }
}
