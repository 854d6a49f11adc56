//! The event log: in order, nothing missed, nothing twice.

use super::{at, engines};
use crate::events::{
    self,
    EventKind::{Removed, Stored},
    Position, Since,
};

#[tokio::test]
async fn events_are_numbered_in_order_and_read_from_any_place() {
    for scene in engines().await {
        let read = scene.db.write("test", |tx| {
            events::append(tx, "kb", [(Stored, "a"), (Stored, "b")].into_iter(), at(0))?;
            events::append(tx, "other", [(Stored, "x")].into_iter(), at(0))?;
            events::append(tx, "kb", [(Removed, "a")].into_iter(), at(1))?;
            Ok((
                events::after(tx, "kb", 0, 10)?,
                events::after(tx, "kb", 2, 10)?,
                events::after(tx, "kb", 0, 1)?,
                events::last(tx, "kb")?,
            ))
        });
        let (all, later, first, last) = read.await.unwrap();
        let actual: Vec<_> =
            all.iter().map(|event| (event.position.seq, event.kind, event.key.as_str())).collect();
        assert_eq!(actual, [(1, Stored, "a"), (2, Stored, "b"), (3, Removed, "a")]);
        assert_eq!((later.len(), first.len(), last.seq), (1, 1, 3));
    }
}

#[tokio::test]
async fn a_follower_sees_each_event_once_while_many_write() {
    for scene in engines().await {
        let writer = scene.db.clone();
        let writing = tokio::spawn(async move {
            let writes = (0..200).map(|number| {
                let key = format!("key-{number}");
                writer.write("test", move |tx| {
                    events::append(tx, "kb", [(Stored, key.as_str())].into_iter(), at(0))
                })
            });
            futures::future::try_join_all(writes).await
        });
        let mut seen = Vec::new();
        let until = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
        while seen.len() < 200 && tokio::time::Instant::now() < until {
            let last = seen.last().copied().unwrap_or_default();
            let news = scene.db.read(move |tx| events::after(tx, "kb", last, 7)).await.unwrap();
            seen.extend(news.iter().map(|event| event.position.seq));
            tokio::task::yield_now().await;
        }
        writing.await.unwrap().unwrap();
        assert_eq!(seen, (1..=200).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn what_some_consumer_has_not_seen_is_kept() {
    for scene in engines().await {
        let left = scene.db.write("test", |tx| {
            events::append(tx, "kb", [(Stored, "a"), (Stored, "b"), (Stored, "c")].into_iter(), at(0))?;
            events::advance_consumer(tx, "search", "kb", 2)?;
            // A position never decreases.
            events::advance_consumer(tx, "search", "kb", 1)?;
            let too_young = events::trim(tx, "kb", at(0))?;
            let trimmed = events::trim(tx, "kb", at(1))?;
            let left = events::after(tx, "kb", 0, 10)?;
            Ok((
                too_young,
                trimmed,
                left.len(),
                events::consumer_position(tx, "search", "kb")?,
                events::consumer_position(tx, "new", "kb")?,
                events::last(tx, "kb")?.seq,
            ))
        });
        assert_eq!(left.await.unwrap(), (0, 2, 1, 2, 0, 3));
    }
}

#[tokio::test]
async fn a_follower_notices_a_database_that_went_back() {
    for scene in engines().await {
        let append = |keys: &'static [&'static str]| {
            scene.db.write("test", move |tx| {
                events::append(tx, "kb", keys.iter().map(|key| (Stored, *key)), at(0))?;
                events::last(tx, "kb")
            })
        };
        let since = |from: Position, max: usize| {
            scene
                .db
                .read(move |tx| Ok((events::since(tx, "kb", from, max)?, events::is_known(tx, "kb", from)?)))
        };
        let first = append(&["a", "b"]).await.unwrap();
        let second = append(&["c"]).await.unwrap();
        let keys = |since: Since| match since {
            Since::Events(events) => events.into_iter().map(|event| event.key).collect::<Vec<_>>().join(" "),
            other => format!("{other:?}"),
        };
        for (from, max, expected) in [
            (Position::default(), 10, "a b c"),
            (Position::default(), 2, "Unknown"),
            (first, 1, "c"),
            (second, 10, "Nothing"),
        ] {
            let (since, is_known) = since(from, max).await.unwrap();
            assert_eq!((keys(since).as_str(), is_known), (expected, true), "{from}");
        }
        // Back to the first append; then others get the same numbers.
        let back = scene.db.write("test", move |tx| {
            tx.execute("DELETE FROM events WHERE seq > $1", [first.seq.into()])?;
            tx.execute("UPDATE counters SET value = $1, mark = $2", [first.seq.into(), first.mark.into()])
        });
        back.await.unwrap();
        assert_eq!(since(second, 10).await.unwrap(), (Since::Unknown, false));
        assert_eq!(since(first, 10).await.unwrap().0, Since::Nothing);
        let other = append(&["d"]).await.unwrap();
        assert_eq!(other.seq, second.seq);
        assert_eq!(since(second, 10).await.unwrap(), (Since::Unknown, false), "same number, other event");
        append(&["e", "f"]).await.unwrap();
        assert_eq!(since(second, 10).await.unwrap(), (Since::Unknown, false), "overtaken");
        assert_eq!(keys(since(first, 10).await.unwrap().0), "d e f");
        assert_eq!(Position::parse(&second.to_string()), Some(second));
        assert_eq!(Position::parse("17"), Some(Position { seq: 17, mark: 0 }));
    }
}
