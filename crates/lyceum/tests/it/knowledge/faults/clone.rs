//! Damaged clones and objects.

use std::{fs, path::Path};

use lyceum_harness::random::Random;
use serde_json::Value;

use crate::{
    app::get,
    knowledge::stage::{Program, Shelf, Stage, command, eventually, objects, published},
};

/// Incompressible text, so that most of a pack is text.
fn noise(seed: u64) -> String {
    let mut random = Random::of(seed);
    (0..3000).map(|_| format!("{:x}\n", random.number())).collect()
}

/// Changes a byte in the middle of every pack of the clone.
fn damage_packs(data: &Path) {
    let mut packs = Vec::new();
    collect(&data.join("sources"), &mut packs);
    assert!(!packs.is_empty());
    for pack in packs {
        let mut bytes = fs::read(&pack).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        // Git made it read-only.
        fs::remove_file(&pack).unwrap();
        fs::write(&pack, bytes).unwrap();
    }
}

fn collect(folder: &Path, packs: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), packs);
        } else if entry.path().extension().is_some_and(|end| end == "pack") {
            packs.push(entry.path());
        }
    }
}

/// A repository whose packs are mostly the text of one document.
async fn stage() -> Stage {
    let stage = Stage::new().await;
    stage.kb.write("notes/noise.md", published("Noise", &noise(7))).unwrap();
    stage.kb.publish().await.unwrap();
    stage
}

#[tokio::test]
async fn a_clone_whose_files_can_not_be_read_is_made_anew() {
    let stage = stage().await;
    let ends = command(stage.folder.path(), &stage.data(), &[("LYCEUM_TRIAL_END_AT", "planned")]);
    match Program::of(ends, stage.folder.path()).await {
        Ok(program) => drop(program.ends().await),
        Err(ended) => assert!(!ended.status.success(), "{ended:?}"),
    }
    damage_packs(&stage.data());
    let program = stage.started().await;
    stage.check_equal_to_scratch(&program).await;
    assert!(program.log().contains("files in the clone can't be read; cloning again"), "{}", program.log());
}

#[tokio::test]
async fn a_clone_that_news_can_not_be_built_on_is_made_anew() {
    let stage = stage().await;
    let program = stage.started().await;
    damage_packs(&stage.data());
    stage.kb.write("notes/noise.md", published("Noise", &format!("{}and more", noise(7)))).unwrap();
    stage.brings_in(&program).await;
    let shelf = stage.check_equal_to_scratch(&program).await;
    assert!(shelf.text("notes/noise.md").ends_with("and more\n"));
}

/// Damages an object, reads it as a client, and checks that it is restored.
async fn check_is_healed(happens: impl Fn(&Path)) {
    let stage = stage().await;
    let program = stage.started().await;
    let commit = program.shows_something().await;
    let before = Shelf::settled(&stage.data(), &commit).await;
    // The search index would read the documents first and notice.
    eventually("the documents are searched", || async {
        let health = program.send(get("/health")).await.unwrap().json();
        let (searched, served) = (&health["search"]["documents"], &health["knowledge"]["documents"]);
        if searched == served { Ok(()) } else { Err(health.to_string()) }
    })
    .await;
    let object = objects(&stage.data()).unwrap().join("content/file/noise.json");
    happens(&object);
    // A reader gets an error or the old bytes; either way the object is repaired.
    let healed = eventually("the document is served and kept again", || async {
        let read = program.document("file/noise").await;
        let kept: Value = serde_json::from_slice(&fs::read(&object).unwrap_or_default()).unwrap_or_default();
        read.map_err(|status| status.to_string()).and_then(|read| {
            if kept["content"] == read["content"] { Ok(read) } else { Err("not kept".into()) }
        })
    })
    .await;
    assert_eq!(&healed, before.document("notes/noise.md"));
    stage.check_equal_to_scratch(&program).await;
}

#[tokio::test]
async fn an_object_that_is_gone_is_brought_in_again() {
    check_is_healed(|object| fs::remove_file(object).unwrap()).await;
}

#[tokio::test]
async fn an_object_that_is_damaged_is_brought_in_again() {
    check_is_healed(|object| {
        let mut bytes = fs::read(object).unwrap();
        bytes[200] ^= 1;
        fs::write(object, bytes).unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_object_is_brought_in_again_even_where_the_clone_is_damaged_too() {
    check_is_healed(|object| {
        fs::remove_file(object).unwrap();
        let data = object.ancestors().find(|folder| folder.join("sources").is_dir()).unwrap();
        damage_packs(data);
    })
    .await;
}
