//! Opening a database: new, corrupt, of a newer version, concurrently.

use rusqlite::Connection;

use super::{at, scene};
use crate::{Db, DbError, PageSize, kv::Namespace};

const STATE: Namespace = Namespace { name: "state", ttl_seconds: None };

#[tokio::test]
async fn what_was_written_is_there_after_a_restart() {
    let super::Scene { db, folder } = scene();
    db.write("test", |tx| STATE.put(tx, "a", b"1", at(0))).await.unwrap();
    drop(db);
    let db = Db::open(&folder.path().join("lyceum.db")).unwrap();
    assert_eq!(db.read(|tx| STATE.get(tx, "a", at(0))).await.unwrap(), Some(b"1".to_vec()));
}

#[test]
fn a_later_schema_is_refused_and_left_alone() {
    let super::Scene { db, folder } = scene();
    drop(db);
    let file = folder.path().join("lyceum.db");
    Connection::open(&file).unwrap().execute("INSERT INTO schema_steps (step) VALUES (999)", []).unwrap();
    let error = Db::open(&file).unwrap_err();
    assert!(matches!(error, DbError::TooNew { found: 999, .. }), "{error:?}");
    assert!(error.to_string().contains("--data-dir"));
    let steps: i64 = Connection::open(&file)
        .unwrap()
        .query_row("SELECT max(step) FROM schema_steps", [], |row| row.get(0))
        .unwrap();
    assert_eq!(steps, 999);
}

#[tokio::test]
async fn a_damaged_file_is_put_aside() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("lyceum.db");
    for _ in 0..2 {
        std::fs::write(&file, "this is no database, and longer than a header of one hundred bytes has to be so that it is looked at whole").unwrap();
        assert!(matches!(Db::open(&file), Err(DbError::Corrupt(_))));
        let db = Db::recreate(&file, PageSize::Large).unwrap();
        db.write("test", |tx| STATE.put(tx, "a", b"1", at(0))).await.unwrap();
    }
    let aside = |number: u32| folder.path().join(format!("lyceum.db.damaged-{number}"));
    assert!(aside(1).exists() && aside(2).exists() && !aside(3).exists());
}

#[tokio::test]
async fn two_that_open_it_see_each_other_s_writes() {
    let super::Scene { db, folder } = scene();
    let other = Db::open(&folder.path().join("lyceum.db")).unwrap();
    for number in 0..20_u8 {
        let (one, two) = if number % 2 == 0 { (&db, &other) } else { (&other, &db) };
        one.write("test", move |tx| STATE.put(tx, "a", &[number], at(0))).await.unwrap();
        assert_eq!(two.read(|tx| STATE.get(tx, "a", at(0))).await.unwrap(), Some(vec![number]));
    }
}

#[test]
fn a_folder_that_can_t_be_made_is_told() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let error = Db::open(&folder.path().join("file/below/lyceum.db")).unwrap_err();
    assert!(matches!(error, DbError::Folder(_)), "{error:?}");
}

#[tokio::test]
async fn a_file_that_turns_out_to_be_damaged_is_not_opened_again() {
    let super::Scene { db, folder } = scene();
    db.write("test", |tx| {
        (0..2000).try_for_each(|number| STATE.put(tx, &number.to_string(), &[7; 200], at(0)))
    })
    .await
    .unwrap();
    drop(db);
    let file = folder.path().join("lyceum.db");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[250_000..].iter_mut().for_each(|byte| *byte ^= 0x5a);
    std::fs::write(&file, bytes).unwrap();
    let db = Db::open(&file).unwrap();
    let read = db
        .read(|tx| (0..2000).try_for_each(|number| STATE.get(tx, &number.to_string(), at(0)).map(drop)))
        .await;
    assert!(matches!(read, Err(DbError::Corrupt(_))), "{read:?}");
    drop(db);

    assert!(matches!(Db::open(&file), Err(DbError::MarkedCorrupt)));
    let db = Db::recreate(&file, PageSize::Large).unwrap();
    assert_eq!(db.read(|tx| STATE.get(tx, "1", at(0))).await.unwrap(), None);
    db.write("test", |tx| STATE.put(tx, "1", b"anew", at(0))).await.unwrap();
    drop(db);
    let kept = Db::open(&file).unwrap().read(|tx| STATE.get(tx, "1", at(0))).await.unwrap();
    assert_eq!(kept, Some(b"anew".to_vec()), "it was moved aside again");
    assert!(folder.path().join("lyceum.db.damaged-1").exists());
}

#[test]
fn many_that_open_a_new_file_at_once_wait_for_each_other() {
    for _ in 0..10 {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("lyceum.db");
        std::thread::scope(|scope| {
            let opened: Vec<_> = (0..8).map(|_| scope.spawn(|| Db::open(&file).map(drop))).collect();
            for opened in opened {
                opened.join().unwrap().unwrap();
            }
        });
    }
}
