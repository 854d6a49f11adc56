//! News of a push: written down before it is acknowledged, each delivery once.

use lyceum_store::{DbError, documents, kv::Namespace};

use crate::{
    Knowledge,
    failpoint::{self, Step},
};

/// Delivery ids that were seen, for longer than any server delivers again.
const DELIVERIES: Namespace = Namespace { name: "deliveries", seconds: Some(30 * 24 * 3600) };

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It is written down, and takes effect whatever happens now.
    Accepted,
    /// It was accepted before.
    Known,
}

impl Knowledge {
    /// Writes down that the source may have moved. When this returns, it is on disk.
    pub async fn accept(&self, delivery: Option<&str>) -> Result<Delivery, DbError> {
        failpoint::reached(Step::Delivery);
        let (name, delivery) = (self.options.name.to_string(), delivery.map(str::to_owned));
        let accepted = self.db.write(move |tx| {
            let is_new = match &delivery {
                Some(id) => DELIVERIES.put_new(tx, id, &[], Self::now())?,
                None => true,
            };
            if is_new {
                documents::want(tx, &name)?;
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
