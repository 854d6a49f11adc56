//! Databases of earlier schemas are migrated with their content.

use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    Db, Tx,
    events::{self, Position},
    migrations,
};

/// A database of the schema of so many migrations, with this content.
fn earlier(steps: usize, content: &str) -> (Db, TempDir) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("lyceum.db");
    let connection = Connection::open(&file).unwrap();
    migrations::run_up_to(&Tx::on(&connection), steps).unwrap();
    connection.execute_batch(content).unwrap();
    drop(connection);
    (Db::open(&file).unwrap(), folder)
}

#[tokio::test]
async fn events_get_numbers_of_their_own_stream_that_go_on_from_the_common_ones() {
    let (db, _folder) = earlier(
        3,
        "INSERT INTO counters (name, value) VALUES ('events', 7), ('audit', 3);
         INSERT INTO events (seq, stream, kind, key, at) VALUES (6, 'kb', 'stored', 'a', 1), (7, 'kb', 'removed', 'b', 2);
         INSERT INTO consumers (name, stream, seq) VALUES ('search', 'kb', 6);",
    );
    let (before, after, of_other) = db
        .write("test", |tx| {
            let before = events::after(tx, "kb", 0, 10)?;
            events::append(tx, "kb", [(events::EventKind::Stored, "c")].into_iter(), super::at(0))?;
            events::append(tx, "new", [(events::EventKind::Stored, "d")].into_iter(), super::at(0))?;
            let since = events::since(tx, "kb", Position::parse("7").unwrap_or_default(), 10)?;
            Ok((before, since, events::last(tx, "new")?))
        })
        .await
        .unwrap();
    let before: Vec<_> =
        before.iter().map(|event| (event.position.to_string(), event.key.as_str())).collect();
    assert_eq!(before, [("6:0".to_owned(), "a"), ("7:0".to_owned(), "b")]);
    // A follower that knows the number alone goes on from there.
    let events::Since::Events(after) = after else { panic!("{after:?}") };
    assert_eq!(
        after.iter().map(|event| (event.position.seq, event.key.as_str())).collect::<Vec<_>>(),
        [(8, "c")]
    );
    assert_eq!(of_other.seq, 1);
}
