//! Damaged databases.

use std::{fs, path::PathBuf};

use lyceum_store::Db;

use crate::knowledge::stage::{Program, Shelf, Stage, knowledge, objects, published, unpublished};

fn database(stage: &Stage) -> PathBuf {
    knowledge(&stage.data()).unwrap().join("lyceum.db")
}

/// A program that synced some documents and was killed.
async fn killed() -> Stage {
    let stage = Stage::new().await;
    for number in 0..40 {
        stage.kb.write(format!("notes/{number}.md"), published("Many", &format!("number {number}"))).unwrap();
    }
    stage.kb.publish().await.unwrap();
    let program = stage.started().await;
    Shelf::settled(&stage.data(), &program.shows_something().await).await;
    program.kill().await;
    stage
}

/// Damages the database, unpublishes a document, and checks that the next program serves the right content.
async fn check_is_made_anew(damage: impl Fn(&mut Vec<u8>)) {
    let stage = killed().await;
    let file = database(&stage);
    // The write-ahead log is checkpointed first, so that the damage is in the main file.
    drop(Db::open(&file).unwrap());
    let mut bytes = fs::read(&file).unwrap();
    damage(&mut bytes);
    fs::write(&file, bytes).unwrap();
    stage.kb.write("notes/7.md", unpublished("no longer")).unwrap();
    stage.kb.remove("notes/8.md").unwrap();
    let commit = stage.kb.publish().await.unwrap();

    let program = stage.start().await;
    program.shows(&commit).await;
    stage.check_equal_to_scratch(&program).await;
    let aside = file.with_file_name("lyceum.db.damaged-1");
    assert!(aside.is_file(), "it was not put aside: {}", program.log());
    assert!(program.log().contains("the database is corrupt; moved it aside"), "{}", program.log());
}

#[tokio::test]
async fn a_file_that_is_no_database_is_put_aside() {
    check_is_made_anew(|bytes| bytes[..16].copy_from_slice(b"something else!!")).await;
}

#[tokio::test]
async fn a_database_with_damaged_pages_is_put_aside() {
    check_is_made_anew(|bytes| {
        let half = bytes.len() / 2;
        bytes[8192..half].iter_mut().for_each(|byte| *byte ^= 0x5a);
    })
    .await;
}

#[tokio::test]
async fn a_database_that_is_cut_off_is_put_aside() {
    check_is_made_anew(|bytes| bytes.truncate(bytes.len() / 2)).await;
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let stage = killed().await;
    let file = database(&stage);
    let db = Db::open(&file).unwrap();
    db.write("test", |tx| tx.execute("INSERT INTO schema_steps (step) VALUES (99)", [])).await.unwrap();
    drop(db);
    let (before, manifest) =
        (fs::read(&file).unwrap(), objects(&stage.data()).unwrap().join("metadata/manifest.json"));
    let shelved = fs::read(&manifest).unwrap();

    let ended = Program::fails(stage.folder.path(), &stage.data()).await;
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    for said in [
        "the data folder was written by a newer lyceum (schema 99, ",
        "use that version, or another --data-dir",
    ] {
        assert!(ended.said.contains(said), "{ended:?}");
    }
    assert!(fs::read(&file).unwrap() == before, "the database was touched");
    assert!(fs::read(&manifest).unwrap() == shelved, "the objects were touched");
    let beside: Vec<_> =
        fs::read_dir(file.parent().unwrap()).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert!(!beside.iter().any(|name| name.to_string_lossy().contains("damaged")), "{beside:?}");
}
