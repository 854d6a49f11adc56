//! Leases: one holder at a time, and a term that rises with each change.

use super::engines;
use crate::{
    DbError,
    leases::{Holder, Lease, Takeover, acquire},
};

#[tokio::test]
async fn one_of_many_gets_a_lease_and_keeps_it_while_it_renews() {
    for scene in engines().await {
        let claims = (0..20).map(|_| {
            let holder = Holder::random().unwrap();
            scene.db.write("kb", move |tx| acquire(tx, "kb", &holder, Takeover::Expired))
        });
        let claims: Vec<Option<Lease>> =
            futures::future::join_all(claims).await.into_iter().map(Result::unwrap).collect();
        let held: Vec<&Lease> = claims.iter().flatten().collect();
        assert_eq!(held.iter().map(|lease| lease.term()).collect::<Vec<_>>(), [1]);
        let lease = held[0].clone();
        scene.db.write("kb", move |tx| lease.renew(tx)).await.unwrap();
    }
}

#[tokio::test]
async fn a_holder_that_another_took_over_from_can_publish_nothing_more() {
    for scene in engines().await {
        let (first, second) = (Holder::random().unwrap(), Holder::random().unwrap());
        let take = |holder: &Holder, takeover| {
            let holder = holder.clone();
            scene.db.write("kb", move |tx| acquire(tx, "kb", &holder, takeover))
        };
        let old = take(&first, Takeover::Expired).await.unwrap().unwrap();
        assert_eq!(take(&second, Takeover::Expired).await.unwrap(), None);
        // Its time is over, as after a pause.
        scene.db.write("kb", |tx| tx.execute("UPDATE leases SET until = 1", [])).await.unwrap();
        let new = take(&second, Takeover::Expired).await.unwrap().unwrap();
        assert_eq!((old.term(), new.term()), (1, 2));
        let (publish, renew) = (old.clone(), new.clone());
        let published = scene.db.write("kb", move |tx| {
            tx.execute("INSERT INTO counters (name, value) VALUES ('published', 1)", [])?;
            publish.renew(tx)
        });
        assert!(matches!(published.await, Err(DbError::LeaseLost)));
        let count =
            scene.db.read(|tx| tx.rows("SELECT 1 FROM counters", [], |row| row.integer(0))).await.unwrap();
        assert!(count.is_empty(), "a publish of an older term was kept");
        scene.db.write("kb", move |tx| renew.renew(tx)).await.unwrap();

        // Also if it gets the lease back: what it planned belongs to its old term.
        scene.db.write("kb", move |tx| new.release(tx)).await.unwrap();
        let again = take(&first, Takeover::Expired).await.unwrap().unwrap();
        assert_eq!(again.term(), 3);
        assert!(matches!(scene.db.write("kb", move |tx| old.renew(tx)).await, Err(DbError::LeaseLost)));
        // Who holds the lock of the only folder need not wait.
        assert_eq!(take(&second, Takeover::Any).await.unwrap().unwrap().term(), 4);
    }
}
