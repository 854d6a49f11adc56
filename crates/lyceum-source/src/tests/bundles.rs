//! Bundled files as a source.

use super::{left_out, names, path, read};
use crate::{Bundled, Kind, ReadError, Source};

const FILES: [(&str, &[u8]); 3] = [("tags/b.md", b"two"), ("a.md", b"one"), ("ü/c.md", b"one")];

#[tokio::test]
async fn the_files_of_the_program_are_a_source_that_is_always_here() {
    let source = Source::Bundled(Bundled::new(FILES));
    assert_eq!(source.kind(), Kind::Bundled);
    let local = source.local().unwrap().unwrap();
    assert_eq!(names(&local), ["a.md", "tags/b.md", "ü/c.md"]);
    assert_eq!(read(&local, "tags/b.md"), "two");
    assert_eq!(local.files()["tags/b.md"].size, 3);
    assert_eq!((local.commit(), local.problems()), (None, &[][..]));

    let refreshed = source.refresh().await.unwrap();
    let again = source.refresh_paths(refreshed.clone(), vec!["a.md".into()]).await.unwrap();
    assert_eq!((refreshed.changed_since(&local), again.changed_since(&local)), (0, 0));
}

#[test]
fn the_stamp_of_a_bundled_file_stands_for_its_bytes() {
    let snapshot = Bundled::new(FILES).snapshot();
    let stamp = |file: &str| snapshot.files()[file].stamp.clone();
    assert_eq!(stamp("a.md"), stamp("ü/c.md"));
    assert_ne!(stamp("a.md"), stamp("tags/b.md"));
    let newer = Bundled::new([("a.md", "one".as_bytes()), ("tags/b.md", b"changed")]).snapshot();
    assert_eq!(newer.changed_since(&snapshot), 2);
}

#[test]
fn a_bundled_file_is_read_within_the_limit_and_by_its_path_only() {
    let snapshot = Bundled::new(FILES).snapshot();
    assert!(matches!(snapshot.read(&path("a.md"), 2), Err(ReadError::TooLarge { size: 3, most: 2 })));
    assert!(matches!(snapshot.read(&path("b.md"), 9), Err(ReadError::Missing)));
}

#[test]
fn what_has_no_path_of_ours_is_left_out_of_a_bundle() {
    let snapshot = Bundled::new([("../a.md", "x".as_bytes()), ("b.md", b"y")]).snapshot();
    assert_eq!(names(&snapshot), ["b.md"]);
    assert_eq!(left_out(&snapshot).len(), 1);
}
