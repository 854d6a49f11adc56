//! Watching a folder for changes.

use std::{fs, path::Path, time::Duration};

use tempfile::TempDir;
use tokio::time::{Instant, timeout};

use crate::{Change, Error, Folder, Watch, watch};

const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait for a change that should not come.
const QUIET_TIME: Duration = Duration::from_millis(300);

async fn next_change(watch: &mut Watch) -> Change {
    timeout(CHANGE_TIMEOUT, watch.changed()).await.expect("no change was reported")
}

/// Expects a change, reported once or, on a slow machine, in several parts.
async fn expect_change(watch: &mut Watch) {
    assert_eq!(next_change(watch).await, Change::Files);
    let until = Instant::now() + CHANGE_TIMEOUT;
    while timeout(QUIET_TIME, watch.changed()).await.is_ok() {
        assert!(Instant::now() < until, "changes are reported without end");
    }
}

async fn expect_no_change(watch: &mut Watch) {
    let change = timeout(QUIET_TIME, watch.changed()).await;
    assert!(change.is_err(), "{change:?}");
}

fn write(folder: &Path, file: &str) {
    let file = folder.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "x").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_change_is_heard_and_then_it_is_quiet() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(root, "a/b/one.md");
    write(root, "two.md");
    let mut watch = watch(root).unwrap();
    expect_no_change(&mut watch).await;
    let changes: [&dyn Fn(); 7] = [
        &|| write(root, "two.md"),
        &|| write(root, "a/b/one.md"),
        &|| write(root, "three.md"),
        &|| fs::rename(root.join("three.md"), root.join("a/four.md")).unwrap(),
        &|| fs::remove_file(root.join("two.md")).unwrap(),
        &|| std::os::unix::fs::symlink("a", root.join("link")).unwrap(),
        &|| (0..200).for_each(|at| write(root, &format!("a/burst-{at}.md"))),
    ];
    for (number, change) in changes.iter().enumerate() {
        println!("change {number}");
        change();
        expect_change(&mut watch).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folders_that_come_later_are_watched_too() {
    let folder = TempDir::new().unwrap();
    let elsewhere = TempDir::new_in(folder.path().parent().unwrap()).unwrap();
    write(elsewhere.path(), "deep/er/x.md");
    let mut watch = watch(folder.path()).unwrap();
    write(folder.path(), "new/folder/one.md");
    expect_change(&mut watch).await;
    write(folder.path(), "new/folder/two.md");
    expect_change(&mut watch).await;
    fs::rename(elsewhere.path().join("deep"), folder.path().join("moved")).unwrap();
    expect_change(&mut watch).await;
    write(folder.path(), "moved/er/y.md");
    expect_change(&mut watch).await;
    fs::rename(folder.path().join("moved"), folder.path().join("again")).unwrap();
    expect_change(&mut watch).await;
    write(folder.path(), "again/er/z.md");
    expect_change(&mut watch).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reading_and_what_is_passed_over_is_no_news() {
    let folder = TempDir::new().unwrap();
    for file in ["a/one.md", ".git/index", "node_modules/x/y.js", ".venv/lib/z.py"] {
        write(folder.path(), file);
    }
    let mut watch = watch(folder.path()).unwrap();
    let snapshot = Folder::new(folder.path()).snapshot().unwrap();
    snapshot.files().keys().for_each(|file| drop(snapshot.read(file, 100).unwrap()));
    write(folder.path(), ".git/index");
    write(folder.path(), ".git/objects/12/34");
    write(folder.path(), "node_modules/x/y.js");
    write(folder.path(), ".venv/lib/z.py");
    expect_no_change(&mut watch).await;
    write(folder.path(), "a/node_modules/new.js");
    let _folder_created_in_watched_folder = timeout(QUIET_TIME, watch.changed()).await;
    write(folder.path(), "a/node_modules/newer.js");
    expect_no_change(&mut watch).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_gives_up_waiting_misses_nothing() {
    let folder = TempDir::new().unwrap();
    let mut watch = watch(folder.path()).unwrap();
    write(folder.path(), "new/a.md");
    // Shorter than the debounce time.
    assert!(timeout(Duration::from_millis(10), watch.changed()).await.is_err());
    assert_eq!(next_change(&mut watch).await, Change::Files);
    write(folder.path(), "new/b.md");
    assert_eq!(next_change(&mut watch).await, Change::Files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_that_never_end_are_told_from_time_to_time() {
    let folder = TempDir::new().unwrap();
    let mut watch = watch(folder.path()).unwrap();
    let root = folder.path().to_owned();
    let writing = tokio::spawn(async move {
        loop {
            write(&root, "a.md");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    for _ in 0..3 {
        assert_eq!(next_change(&mut watch).await, Change::Files);
    }
    writing.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_goes_away_is_told() {
    let above = TempDir::new().unwrap();
    let folder = above.path().join("kb");
    type Removal = fn(&Path);
    let removals: [Removal; 2] = [
        |folder| fs::remove_dir_all(folder).unwrap(),
        |folder| fs::rename(folder, folder.with_extension("old")).unwrap(),
    ];
    for remove in removals {
        write(&folder, "sub/a.md");
        let mut watch = watch(&folder).unwrap();
        remove(&folder);
        assert_eq!(next_change(&mut watch).await, Change::Gone);
    }
    assert!(matches!(watch(&folder), Err(Error::NoFolder(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_places_of_changes_are_told_once() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "a/one.md");
    let mut watch = watch(folder.path()).unwrap();
    write(folder.path(), "a/one.md");
    expect_change(&mut watch).await;
    assert_eq!(watch.changed_paths(), Some(vec!["a/one.md".into()]));
    assert_eq!(watch.changed_paths(), Some(Vec::new()));
    write(folder.path(), "new/two.md");
    expect_change(&mut watch).await;
    assert!(watch.changed_paths().is_none_or(|places| places.contains(&"new".into())));
    (0..400).for_each(|at| write(folder.path(), &format!("a/burst-{at}.md")));
    expect_change(&mut watch).await;
    assert_eq!(watch.changed_paths(), None);
    assert_eq!(watch.changed_paths(), Some(Vec::new()));
}
