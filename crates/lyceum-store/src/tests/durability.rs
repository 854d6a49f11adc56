//! Failed writes change nothing and don't affect others.

use super::{at, engines};
use crate::{DbError, kv::Namespace};

const STATE: Namespace = Namespace { name: "state", ttl_seconds: None };

#[tokio::test]
async fn work_that_fails_is_taken_back_alone() {
    for scene in engines().await {
        let works = (0..40_u8).map(|number| {
            scene.db.write("test", move |tx| {
                STATE.put(tx, &number.to_string(), &[number], at(0))?;
                if number % 3 == 0 { Err(DbError::Content("no".to_owned())) } else { Ok(()) }
            })
        });
        let done = futures::future::join_all(works).await;
        for (number, done) in (0..40_u8).zip(done) {
            let kept = scene.db.read(move |tx| STATE.get(tx, &number.to_string(), at(0))).await.unwrap();
            assert_eq!((done.is_ok(), kept.is_some()), (number % 3 != 0, number % 3 != 0), "{number}");
        }
    }
}

#[tokio::test]
async fn work_that_panics_changes_nothing_and_the_next_goes_on() {
    for scene in engines().await {
        let panicked = scene.db.write("test", |tx| {
            STATE.put(tx, "a", b"", at(0))?;
            if at(0) > at(-1) {
                panic!("on purpose");
            }
            Ok(())
        });
        assert!(matches!(panicked.await, Err(DbError::Closed)));
        assert_eq!(scene.db.read(|tx| STATE.get(tx, "a", at(0))).await.unwrap(), None);
        scene.db.write("test", |tx| STATE.put(tx, "b", b"", at(0))).await.unwrap();
    }
}

#[tokio::test]
async fn work_goes_on_when_nobody_waits_for_it() {
    for scene in engines().await {
        let mut unheard = Box::pin(scene.db.write("test", |tx| STATE.put(tx, "a", b"1", at(0))));
        assert!(futures::poll!(&mut unheard).is_pending());
        drop(unheard);
        scene.db.write("test", |_| Ok(())).await.unwrap();
        assert!(scene.db.read(|tx| STATE.get(tx, "a", at(0))).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_reader_sees_one_state_whatever_is_written_meanwhile() {
    for scene in engines().await {
        let writer = scene.db.clone();
        let handle = tokio::runtime::Handle::current();
        let seen = scene.db.read(move |tx| {
            let before = STATE.get(tx, "a", at(0))?;
            handle.block_on(writer.write("test", |tx| STATE.put(tx, "a", b"1", at(0))))?;
            Ok((before, STATE.get(tx, "a", at(0))?))
        });
        assert_eq!(seen.await.unwrap(), (None, None));
        assert!(scene.db.read(|tx| STATE.get(tx, "a", at(0))).await.unwrap().is_some());
    }
}
