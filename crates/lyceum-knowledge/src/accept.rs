//! Webhook deliveries: persisted before they are acknowledged, deduplicated by delivery id.

use lyceum_store::{DbError, documents, kv::Namespace};

use crate::{
    Knowledge,
    failpoint::{self, Step},
};

/// Seen delivery ids, kept for longer than any server redelivers.
const DELIVERIES: Namespace = Namespace { name: "deliveries", ttl_seconds: Some(30 * 24 * 3600) };

/// Outcome of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Persisted; it takes effect even after a crash.
    Accepted,
    /// A duplicate of an earlier delivery.
    Known,
}

impl Knowledge {
    /// Persists a sync request for the source. When this returns, it is on disk.
    pub async fn accept(&self, delivery: Option<&str>) -> Result<Delivery, DbError> {
        failpoint::reached(Step::Delivery);
        let (name, delivery) = (self.options.key(), delivery.map(str::to_owned));
        let is_shared = self.db.is_shared();
        let accepted = self.db.write(self.options.about(), move |tx| {
            let is_new = match &delivery {
                // Each knowledge base of a shared database gets the delivery.
                Some(id) if is_shared => DELIVERIES.put_new(tx, &format!("{name}:{id}"), &[], Self::now())?,
                Some(id) => DELIVERIES.put_new(tx, id, &[], Self::now())?,
                None => true,
            };
            if is_new {
                documents::request_sync(tx, &name)?;
            }
            Ok(if is_new { Delivery::Accepted } else { Delivery::Known })
        });
        let accepted = accepted.await?;
        failpoint::reached(Step::Accepted);
        if accepted == Delivery::Accepted {
            self.sync_requested.notify_one();
        }
        Ok(accepted)
    }
}
