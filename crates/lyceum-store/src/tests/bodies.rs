//! Staged bytes stay until their upload, whoever sweeps meanwhile.

use super::{at, engines};
use crate::{Tx, documents, jobs};

const QUEUE: &str = "objects:kb";

fn count(tx: &Tx<'_>, source: &str) -> Result<Vec<String>, crate::DbError> {
    tx.rows("SELECT hash FROM bodies WHERE source = $1 ORDER BY hash", [source.into()], |row| row.text(0))
}

#[tokio::test]
async fn bytes_of_a_running_sync_are_kept_and_those_of_an_interrupted_one_are_not() {
    for scene in engines().await {
        let left = scene.db.write("kb", |tx| {
            let bytes: &[u8] = b"bytes";
            let interrupted = documents::begin_sync(tx, "kb")?;
            documents::put_bodies(tx, "kb", interrupted, [("lost", bytes), ("again", bytes)])?;
            documents::put_bodies(tx, "other", 0, [("lost", bytes)])?;
            let mut left = Vec::new();
            let mut sweep = |name: &'static str| {
                documents::sweep_bodies(tx, "kb", QUEUE)?;
                left.push((name, count(tx, "kb")?.join(" ")));
                Ok::<_, crate::DbError>(())
            };
            sweep("running")?;
            let sync = documents::begin_sync(tx, "kb")?;
            documents::put_bodies(tx, "kb", sync, [("again", bytes), ("new", bytes)])?;
            sweep("the next is running")?;
            jobs::enqueue(tx, QUEUE, [("content/a.json", "new")], at(0))?;
            documents::end_sync(tx, "kb", sync)?;
            sweep("published")?;
            let job = jobs::claim(tx, QUEUE, at(0), super::LEASE, 1)?.remove(0);
            jobs::complete(tx, QUEUE, &job)?;
            sweep("uploaded")?;
            left.push(("another source", count(tx, "other")?.join(" ")));
            Ok(left)
        });
        let expected = [
            ("running", "again lost"),
            ("the next is running", "again new"),
            ("published", "new"),
            ("uploaded", ""),
            ("another source", "lost"),
        ];
        assert_eq!(left.await.unwrap(), expected.map(|(name, hashes)| (name, hashes.to_owned())));
    }
}
