//! Corrupt files: detected on open, rebuilt, and queries are answered meanwhile.

use std::path::{Path, PathBuf};

use lyceum_harness::random::Random;
use tempfile::TempDir;

use super::{Scene, library, page, until, versions};
use crate::{Mode, tests::Control};

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&file, &target).unwrap();
    }
}

/// Corrupts a file at a random position.
fn corrupt(file: &Path, random: &mut Random) -> String {
    let mut bytes = std::fs::read(file).unwrap();
    let what = match random.below(3) {
        _ if bytes.is_empty() => return "left empty".to_owned(),
        0 => {
            bytes.truncate(random.below(bytes.len()));
            format!("cut to {}", bytes.len())
        }
        1 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            format!("flipped at {at}")
        }
        _ => {
            let at = random.below(bytes.len());
            let to = (at + 64).min(bytes.len());
            bytes[at..to].iter_mut().for_each(|byte| *byte = u8::try_from(random.below(256)).unwrap());
            format!("overwritten from {at}")
        }
    };
    std::fs::write(file, bytes).unwrap();
    what
}

async fn original(folder: &Path) {
    let scene = Scene::open(folder, Some("one:256"), &Control::new());
    scene.put(library()).await;
    scene.put(vec![page("late", "Late", "a latecomer among pages")]).await;
    scene.filled().await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_index_of_words_is_made_again() {
    let first = TempDir::new().unwrap();
    original(first.path()).await;
    let words = files(&first.path().join("words"));
    let mut random = Random::of(11);
    for file in &words {
        let folder = TempDir::new().unwrap();
        copy(first.path(), folder.path());
        let file = folder.path().join(file.strip_prefix(first.path()).unwrap());
        let what = corrupt(&file, &mut random);
        eprintln!("{} {what}", file.display());
        let control = Control::new();
        let scene = Scene::open(folder.path(), Some("one:256"), &control);
        until("lexical search works again", async || scene.ids(Mode::Lexical, "latecomer").await == ["late"])
            .await;
        scene.check(Mode::Lexical, "wheel", &["boats", "cars"]).await;
        scene.put(vec![page("new", "New", "a newcomer")]).await;
        scene.check(Mode::Lexical, "newcomer", &["new"]).await;
        scene.filled().await;
        assert_eq!(control.embedded(), 1);
        scene.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn meaning_answers_where_words_are_damaged() {
    let folder = TempDir::new().unwrap();
    original(folder.path()).await;
    let control = Control::new();
    let first = Scene::open(folder.path(), Some("one:256"), &control);
    first.filled().await;
    // A follower can't rebuild the index.
    let meta =
        files(&folder.path().join("words")).into_iter().find(|file| file.ends_with("meta.json")).unwrap();
    let original_meta = std::fs::read(&meta).unwrap();
    std::fs::write(&meta, "{").unwrap();
    let second = Scene::open(folder.path(), Some("one:256"), &control);
    until("the model is active", async || second.status().await.model.is_some()).await;
    let answer = second.ask(Mode::Hybrid, "automobile").await;
    assert_eq!(answer.hits[0].facts.id, "cars");
    assert!(answer.degraded.unwrap().contains("vector results only"));
    std::fs::write(&meta, original_meta).unwrap();
    until("the lexical index is opened again", async || {
        second.ids(Mode::Lexical, "latecomer").await == ["late"]
    })
    .await;
    first.close().await;
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_made_again_by_who_fills_it() {
    let first = TempDir::new().unwrap();
    original(first.path()).await;
    let mut random = Random::of(12);
    let mut wanted = library();
    wanted.push(page("late", "Late", "a latecomer among pages"));
    for round in 0..12 {
        let folder = TempDir::new().unwrap();
        copy(first.path(), folder.path());
        let what = corrupt(&folder.path().join("search.db"), &mut random);
        eprintln!("{round}: {what}");
        let control = Control::new();
        let mut scene = Scene::open(folder.path(), Some("one:256"), &control);
        // As a server does: ingest what differs, and restart if the file turns out to be corrupt.
        let mut is_done = false;
        for _ in 0..3 {
            if ingest(&scene, &wanted).await {
                is_done = true;
                break;
            }
            scene.close().await;
            scene = Scene::open(folder.path(), Some("one:256"), &control);
        }
        assert!(is_done, "{what}");
        scene.check(Mode::Lexical, "latecomer", &["late"]).await;
        scene.close().await;
    }
}

async fn ingest(scene: &Scene, wanted: &[crate::Page]) -> bool {
    let Ok(plan) = scene.search.plan(super::SOURCE, versions(wanted), |_| true).await else { return false };
    let pages = wanted.iter().filter(|page| plan.read.contains(&page.facts.key())).cloned().collect();
    scene.search.apply(super::SOURCE, pages, plan.gone).await.is_ok()
        && scene
            .search
            .find(crate::Query { text: "latecomer".to_owned(), limit: 9, ..Default::default() })
            .await
            .is_ok()
}
