//! Token buckets that several processes share.

use std::time::Duration;

use super::engines;
use crate::rate_limits::{Rate, sweep, take};

const RATE: Rate = Rate { burst: 60, every: Duration::from_secs(3600) };

#[tokio::test]
async fn of_many_at_once_exactly_the_burst_passes_and_others_are_told_how_long_to_wait() {
    for scene in engines().await {
        let requests = (0..240).map(|_| scene.db.write("limit", |tx| take(tx, "a", RATE)));
        let taken: Vec<Result<(), Duration>> =
            futures::future::join_all(requests).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(taken.iter().filter(|taken| taken.is_ok()).count(), 60);
        let wait = taken.iter().find_map(|taken| taken.err()).unwrap();
        assert!(wait > RATE.every / 2 && wait <= RATE.every, "{wait:?}");
        assert_eq!(
            scene.db.write("limit", |tx| take(tx, "b", RATE)).await.unwrap(),
            Ok(()),
            "another bucket"
        );
    }
}

#[tokio::test]
async fn a_full_bucket_is_swept() {
    for scene in engines().await {
        let short = Rate { burst: 1, every: Duration::ZERO };
        scene.db.write("limit", move |tx| take(tx, "full", short)).await.unwrap().unwrap();
        scene.db.write("limit", |tx| take(tx, "used", RATE)).await.unwrap().unwrap();
        assert_eq!(scene.db.write("limit", sweep).await.unwrap(), 1);
    }
}
