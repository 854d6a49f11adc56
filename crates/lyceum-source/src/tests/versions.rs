//! Durable stamps of files, and versions of snapshots.

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use tempfile::TempDir;

use super::{Machine, server};
use crate::{Bundled, Folder, Snapshot};

/// A time long past, outside any timestamp granularity.
fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn write(root: &Path, file: &str, content: &str, modified: SystemTime) {
    fs::write(root.join(file), content).unwrap();
    File::options().write(true).open(root.join(file)).unwrap().set_modified(modified).unwrap();
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(file, content)| write(folder.path(), file, content, long_ago()));
    folder
}

fn snapshot(folder: &TempDir) -> Snapshot {
    Folder::new(folder.path()).snapshot().unwrap()
}

fn durable(snapshot: &Snapshot, file: &str) -> Option<String> {
    snapshot.files()[file].stamp.durable()
}

/// Waits until a file has a durable stamp.
fn settled(folder: &TempDir, file: &str) -> String {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        match durable(&snapshot(folder), file) {
            Some(stamp) => return stamp,
            None => assert!(Instant::now() < end, "{file} does not settle"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
fn check_tree(version: &str) {
    let digits = version.strip_prefix("tree-").unwrap_or_default();
    assert!(digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{version}");
}

#[test]
fn a_file_that_changed_just_now_has_no_durable_stamp_until_it_settles() {
    let folder = folder(&[("a.md", "one")]);
    // The first snapshot may or may not be quick enough to see it unsettled.
    let first = durable(&snapshot(&folder), "a.md");
    let stamp = settled(&folder, "a.md");
    assert!(first.is_none_or(|first| first == stamp));
    assert_eq!(settled(&folder, "a.md"), stamp);
    assert_eq!(stamp.split(':').count(), 5, "{stamp}");
    assert_eq!(stamp.split(':').nth(2), Some("3"), "{stamp}");

    write(folder.path(), "a.md", "two", long_ago());
    assert_ne!(settled(&folder, "a.md"), stamp, "the ctime differs");
}

#[test]
fn the_version_of_a_folder_stands_for_paths_sizes_and_times() {
    let first = folder(&[("a.md", "one"), ("b.md", "two")]);
    let version = snapshot(&first).version();
    check_tree(&version);
    assert_eq!(snapshot(&folder(&[("b.md", "two"), ("a.md", "one")])).version(), version, "a copy");
    let other = |files: &[(&str, &str)]| assert_ne!(snapshot(&folder(files)).version(), version, "{files:?}");
    other(&[]);
    other(&[("a.md", "one")]);
    other(&[("a.md", "longer"), ("b.md", "two")]);
    other(&[("a.md", "one"), ("c.md", "two")]);
    write(first.path(), "a.md", "one", long_ago() + Duration::from_secs(1));
    assert_ne!(snapshot(&first).version(), version, "another time");
}

#[test]
fn the_version_of_a_bundle_stands_for_its_paths_and_bytes() {
    let bundle = |files: &[(&'static str, &'static str)]| {
        Bundled::new(files.iter().map(|(path, text)| (*path, text.as_bytes()))).snapshot()
    };
    let first = bundle(&[("a.md", "one"), ("b.md", "two")]);
    check_tree(&first.version());
    assert_eq!(bundle(&[("b.md", "two"), ("a.md", "one")]).version(), first.version());
    assert_ne!(bundle(&[("a.md", "two"), ("b.md", "one")]).version(), first.version());
    assert_ne!(bundle(&[("a.md", "one")]).version(), first.version());
    // SHA-256 of "one".
    let expected = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
    assert_eq!(durable(&first, "a.md").as_deref(), Some(expected));
}

#[tokio::test]
async fn a_commit_is_its_own_version_and_a_blob_its_own_stamp() {
    let server = server().await;
    let kb = server.repository("kb.git").unwrap();
    kb.write("a.md", "hello\n").unwrap();
    let commit = kb.commit().unwrap();
    let snapshot = Machine::new().repository(&server.url("kb.git")).refresh().await.unwrap();
    assert_eq!(snapshot.version(), commit);
    // Output of `git hash-object` for "hello\n", in either format.
    let sha1 = "ce013625030ba8dba906f756967f9e9ca394464a";
    let sha256 = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
    let stamp = durable(&snapshot, "a.md").unwrap();
    assert!([sha1, sha256].contains(&stamp.as_str()), "{stamp}");
}
