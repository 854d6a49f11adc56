//! Values with and without expiry.

use super::{at, engines};
use crate::kv::{Namespace, sweep};

const NONCES: Namespace = Namespace { name: "nonces", ttl_seconds: Some(300) };
const STATE: Namespace = Namespace { name: "state", ttl_seconds: None };

#[tokio::test]
async fn a_value_is_there_until_its_end() {
    for scene in engines().await {
        let found = scene.db.write("test", |tx| {
            NONCES.put(tx, "a", b"1", at(0))?;
            STATE.put(tx, "a", b"2", at(0))?;
            Ok([
                NONCES.get(tx, "a", at(299))?,
                NONCES.get(tx, "a", at(300))?,
                STATE.get(tx, "a", at(1_000_000))?,
                STATE.get(tx, "b", at(0))?,
            ])
        });
        assert_eq!(found.await.unwrap(), [Some(b"1".to_vec()), None, Some(b"2".to_vec()), None]);
    }
}

#[tokio::test]
async fn a_value_is_taken_once() {
    for scene in engines().await {
        scene.db.write("test", |tx| NONCES.put(tx, "a", b"1", at(0))).await.unwrap();
        let takes = (0..50).map(|_| scene.db.write("test", |tx| NONCES.take(tx, "a", at(1))));
        let taken = futures::future::join_all(takes).await;
        assert_eq!(taken.into_iter().filter_map(|taken| taken.unwrap()).count(), 1);
    }
}

#[tokio::test]
async fn a_value_that_is_over_is_not_taken_and_makes_room_for_a_new_one() {
    for scene in engines().await {
        let results = scene.db.write("test", |tx| {
            let first = NONCES.put_new(tx, "a", b"1", at(0))?;
            let again = NONCES.put_new(tx, "a", b"2", at(10))?;
            let kept = NONCES.get(tx, "a", at(10))?;
            let later = NONCES.put_new(tx, "a", b"3", at(300))?;
            let forever = (STATE.put_new(tx, "a", b"", at(0))?, STATE.put_new(tx, "a", b"", at(1_000_000))?);
            Ok((first, again, kept, later, forever, NONCES.take(tx, "a", at(900))?))
        });
        assert_eq!(results.await.unwrap(), (true, false, Some(b"1".to_vec()), true, (true, false), None));
    }
}

#[tokio::test]
async fn what_is_over_is_swept_away_and_nothing_else() {
    for scene in engines().await {
        let swept = scene.db.write("test", |tx| {
            for key in ["a", "b", "c"] {
                NONCES.put(tx, key, b"", at(0))?;
            }
            NONCES.put(tx, "d", b"", at(100))?;
            STATE.put(tx, "e", b"", at(0))?;
            Ok((sweep(tx, at(300))?, sweep(tx, at(300))?, NONCES.get(tx, "d", at(300))?.is_some()))
        });
        assert_eq!(swept.await.unwrap(), (3, 0, true));
    }
}
