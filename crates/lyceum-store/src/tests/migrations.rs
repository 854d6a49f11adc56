//! Databases of earlier schemas are migrated with their content.

use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    Db, Tx, documents,
    events::{self, Position},
    jobs, migrations, pages, vectors,
};

/// A database of the schema of so many migrations, with this content.
fn earlier(steps: usize, content: &str) -> (Db, TempDir) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("lyceum.db");
    let connection = Connection::open(&file).unwrap();
    migrations::run_up_to(&Tx::on_sqlite(&connection), steps).unwrap();
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

#[tokio::test]
async fn the_one_source_and_index_of_a_file_keep_what_they_have() {
    let (db, _folder) = earlier(
        3,
        "INSERT INTO counters (name, value) VALUES ('events', 2), ('pages', 2), ('chunks', 3), ('models', 4), ('vectors', 9);
         INSERT INTO sources (name, rules, wanted, done) VALUES ('kb', '', 0, 0);
         INSERT INTO jobs (queue, key, payload, version, attempts, due, leased_until) VALUES ('objects', 'k', 'h', 1, 0, 0, 0);
         INSERT INTO bodies (hash, bytes) VALUES ('h', x'01'), ('unused', x'02');
         INSERT INTO events (seq, stream, kind, key, at) VALUES (1, 'pages', 'stored', '1', 1), (2, 'pages', 'stored', '2', 1);
         INSERT INTO pages (id, source, key, version, facts) VALUES (1, 'kb', 'a', '1', '{}'), (2, 'kb', 'b', '1', '{}');
         INSERT INTO chunks (id, page, hash, heading, first_line, last_line, text)
             VALUES (1, 1, x'0a', '', 1, 1, 'a'), (2, 1, x'0b', '', 1, 1, 'b'), (3, 2, x'0c', '', 1, 1, 'c');
         INSERT INTO models (id, identity, settings, state) VALUES (4, 'm', 's', 'active');
         INSERT INTO vectors (seq, model, hash, vector) VALUES (9, 4, x'0a', x'01');",
    );
    let seen = db.write("test", |tx| {
        let index = pages::create_index(tx, "search")?;
        let stream = pages::stream(index);
        documents::sweep_bodies(tx, "kb", "objects:kb")?;
        let job = jobs::claim(tx, "objects:kb", super::at(0), super::LEASE, 10)?.remove(0);
        let body = documents::body(tx, "kb", &job.payload)?;
        let unused = documents::body(tx, "kb", "unused")?;
        let pending: Vec<_> = vectors::pending(tx, 4, 10)?.into_iter().map(|one| one.hash).collect();
        vectors::put(tx, index, 4, &[(vec![0x0c], vec![2])], super::at(0))?;
        let vectors: Vec<_> = vectors::after(tx, 4, 9)?.iter().map(|one| (one.seq, one.chunk)).collect();
        let ids =
            (index, events::last(tx, &stream)?.seq, vectors::active(tx, index)?, pages::count(tx, index)?);
        Ok((ids, (body, unused), pending, vectors))
    });
    let ((index, last, active, counts), bodies, pending, vectors) = seen.await.unwrap();
    assert_eq!((index, last, active, counts), (1, 2, Some(4), (2, 3)));
    assert_eq!(bodies, (Some(vec![1]), None));
    assert_eq!(pending, [vec![0x0c], vec![0x0b]], "the beginnings of pages first");
    assert_eq!(vectors, [(10, 3)]);
}
