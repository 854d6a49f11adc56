//! Entries of a commit's tree.

use lyceum_testkit::TestRepository;
use tempfile::TempDir;

use super::{MAX_BYTES, Machine, left_out, names, path, read};
use crate::{ReadError, Snapshot};

/// Commits what `fill` writes, and returns the snapshot.
async fn committed(fill: impl FnOnce(&TestRepository)) -> Snapshot {
    let folder = TempDir::new().unwrap();
    let kb = TestRepository::with_format(folder.path(), "kb.git", "sha1").unwrap();
    fill(&kb);
    kb.commit().unwrap();
    let machine = Machine::new();
    let snapshot = machine.repository(kb.path().to_str().unwrap()).refresh().await.unwrap();
    // The clone is read, not the repository; and the clone may be deleted while readers hold the snapshot.
    drop(folder);
    for file in snapshot.files().keys() {
        snapshot.read(file, MAX_BYTES).unwrap();
    }
    snapshot
}

#[tokio::test]
async fn names_in_any_language_and_with_quotes_are_read() {
    let files = [
        "ü/ñ.md",
        "日本語.md",
        "it's \"quoted\" $(x) `y`.md",
        "tab-less * ? [x].md",
        "-dash.md",
        ".hidden/x.md",
    ];
    let snapshot = committed(|kb| files.iter().for_each(|file| kb.write(file, file).unwrap())).await;
    assert_eq!(names(&snapshot).len(), files.len());
    for file in files {
        assert_eq!(read(&snapshot, file), file);
    }
}

#[tokio::test]
async fn names_that_are_no_paths_of_ours_are_left_out() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let snapshot = committed(|kb| {
        kb.write("good.md", "x").unwrap();
        kb.write("line\nbreak.md", "x").unwrap();
        kb.write("back\\slash/x.md", "x").unwrap();
        kb.write(OsStr::from_bytes(b"latin-\xe4.md"), "x").unwrap();
        kb.write("node_modules/x.md", "x").unwrap();
    })
    .await;
    assert_eq!(names(&snapshot), ["good.md"]);
    let paths: Vec<_> = snapshot.problems().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["back\\slash/x.md", "latin-\u{fffd}.md", "line\\nbreak.md"]);
}

#[tokio::test]
async fn links_are_followed_inside_the_tree() {
    let snapshot = committed(|kb| {
        kb.write("a/one.md", "one").unwrap();
        kb.link("link.md", "a/one.md").unwrap();
        kb.link("a/same.md", "one.md").unwrap();
        kb.link("b/up.md", "../a/./one.md").unwrap();
        kb.link("second.md", "link.md").unwrap();
        kb.link("folder", "a").unwrap();
        kb.link("through.md", "folder/one.md").unwrap();
        kb.link("absolute.md", "/etc/hostname").unwrap();
        kb.link("out.md", "../../etc/hostname").unwrap();
        kb.link("gone.md", "nothing.md").unwrap();
        kb.link("x.md", "y.md").unwrap();
        kb.link("y.md", "x.md").unwrap();
        kb.link("chain-0.md", "a/one.md").unwrap();
        (1..10).for_each(|at| kb.link(format!("chain-{at}.md"), format!("chain-{}.md", at - 1)).unwrap());
    })
    .await;
    let followed = ["link.md", "a/same.md", "b/up.md", "second.md", "through.md", "chain-0.md", "chain-7.md"];
    for link in followed {
        assert_eq!(read(&snapshot, link), "one", "{link}");
        assert_eq!(snapshot.files()[link].size, 3);
    }
    assert_eq!(
        left_out(&snapshot),
        [
            "absolute.md: Leaves",
            "chain-8.md: Leaves",
            "chain-9.md: Leaves",
            "folder: LinkToFolder",
            "gone.md: Leaves",
            "out.md: Leaves",
            "x.md: Leaves",
            "y.md: Leaves"
        ]
    );
}

#[tokio::test]
async fn submodules_and_pointers_to_large_files_are_left_out() {
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n",
        "0123456789abcdef".repeat(4)
    );
    let snapshot = committed(|kb| {
        kb.write("a.md", "one").unwrap();
        kb.write("video.mp4", &pointer).unwrap();
        kb.write("about-lfs.md", format!("{pointer}{}", "x".repeat(1024))).unwrap();
        kb.write("quoted.md", format!("A pointer begins with: {pointer}")).unwrap();
        kb.commit().unwrap();
        kb.submodule("vendored/other").unwrap();
    })
    .await;
    assert_eq!(names(&snapshot), ["a.md", "about-lfs.md", "quoted.md"]);
    assert_eq!(left_out(&snapshot), ["vendored/other: Submodule", "video.mp4: LargeFileStorage"]);
}

#[tokio::test]
async fn only_what_is_listed_can_be_read_and_only_up_to_the_limit() {
    let snapshot = committed(|kb| kb.write("a.md", "1234").unwrap()).await;
    assert!(matches!(snapshot.read(&path("b.md"), MAX_BYTES), Err(ReadError::Missing)));
    assert!(matches!(snapshot.read(&path("a.md"), 3), Err(ReadError::TooLarge { size: 4, most: 3 })));
    assert_eq!(snapshot.read(&path("a.md"), 4).unwrap(), b"1234");
}
