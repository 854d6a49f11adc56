//! A folder as a source.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::{MAX_BYTES, left_out, names, path, read};
use crate::{Error, Folder, ReadError, Snapshot, Source};

/// A folder with these files; a name that ends with `/` is an empty folder.
pub(super) fn folder(files: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for file in files {
        write(folder.path(), file, file);
    }
    folder
}

pub(super) fn write(root: &Path, file: &str, content: &str) {
    let place = root.join(file);
    fs::create_dir_all(if file.ends_with('/') { &place } else { place.parent().unwrap() }).unwrap();
    if !file.ends_with('/') {
        fs::write(place, content).unwrap();
    }
}

pub(super) fn snapshot(folder: &TempDir) -> Snapshot {
    Folder::new(folder.path()).snapshot().unwrap()
}

/// Creates symlinks in a folder with `a/one.md`, `a/b/two.md` and `.git/config`, and checks the listing.
#[track_caller]
fn check_links(links: &[(&str, &str)], listed: &[&str], out: &[&str]) {
    let folder = folder(&["a/one.md", "a/b/two.md", ".git/config"]);
    for (link, target) in links {
        let target = target.replace("ROOT", folder.path().to_str().unwrap());
        symlink(target, folder.path().join(link)).unwrap();
    }
    let snapshot = snapshot(&folder);
    let more: Vec<_> =
        names(&snapshot).into_iter().filter(|name| !["a/one.md", "a/b/two.md"].contains(name)).collect();
    assert_eq!(more, listed, "{links:?}");
    assert_eq!(left_out(&snapshot), out, "{links:?}");
    for file in snapshot.files().keys() {
        assert!(snapshot.read(file, MAX_BYTES).unwrap().ends_with(b".md"), "{file}");
    }
}

#[test]
fn files_are_listed_with_their_sizes_and_can_be_read() {
    let folder = folder(&["SKILL.md", "a/b/c.md", "ü/„quoted“ \"name\".md", "empty/"]);
    let snapshot = snapshot(&folder);
    assert_eq!(names(&snapshot), ["SKILL.md", "a/b/c.md", "ü/„quoted“ \"name\".md"]);
    assert_eq!(snapshot.files()["SKILL.md"].size, 8);
    assert_eq!(read(&snapshot, "ü/„quoted“ \"name\".md"), "ü/„quoted“ \"name\".md");
    assert!(snapshot.problems().is_empty());
    assert_eq!(snapshot.commit(), None);
}

#[test]
fn the_repository_itself_and_installed_packages_are_passed_over() {
    let folder = folder(&[
        "a.md",
        ".git/config",
        "sub/.git",
        "node_modules/x/y.md",
        "a/node_modules/z.md",
        "a/.github/skills/b.md",
    ]);
    let snapshot = snapshot(&folder);
    assert_eq!(names(&snapshot), ["a.md", "a/.github/skills/b.md"]);
    assert!(snapshot.problems().is_empty());
}

#[test]
fn links_that_stay_inside_are_followed() {
    check_links(&[("link.md", "a/one.md")], &["link.md"], &[]);
    check_links(&[("a/b/up.md", "../one.md")], &["a/b/up.md"], &[]);
    check_links(&[("abs.md", "ROOT/a/one.md")], &["abs.md"], &[]);
    check_links(&[("first.md", "second.md"), ("second.md", "a/one.md")], &["first.md", "second.md"], &[]);
    check_links(&[("d", "a")], &["d/b/two.md", "d/one.md"], &[]);
    check_links(&[("d", "a/b"), ("e", "d")], &["d/two.md", "e/two.md"], &[]);
}

#[test]
fn links_that_leave_or_lead_nowhere_are_left_out() {
    check_links(&[("out.md", "/etc/hostname")], &[], &["out.md: Leaves"]);
    check_links(&[("out", "/etc")], &[], &["out: Leaves"]);
    check_links(&[("out", "..")], &[], &["out: Leaves"]);
    check_links(&[("a/out", "../../../../../../../etc")], &[], &["a/out: Leaves"]);
    check_links(&[("gone.md", "a/nothing.md")], &[], &["gone.md: Leaves"]);
    check_links(&[("secret", ".git/config")], &[], &["secret: Leaves"]);
    check_links(&[("repository", ".git")], &[], &["repository: Leaves"]);
    // A path that leaves and comes back still leaves.
    check_links(&[("away", "/etc"), ("back.md", "away/nothing")], &[], &["away: Leaves", "back.md: Leaves"]);
}

#[test]
fn links_that_go_round_in_a_circle_are_left_out() {
    check_links(&[("self", "self")], &[], &["self: Leaves"]);
    check_links(&[("x", "y"), ("y", "x")], &[], &["x: Leaves", "y: Leaves"]);
    check_links(&[("root", ".")], &[], &["root: Leaves"]);
    check_links(&[("a/up", "..")], &[], &["a/up: Leaves"]);
    check_links(&[("a/b/up", "../../a")], &[], &["a/b/up: Leaves"]);
    // Mutual symlinks: the content is listed once per path, and no deeper.
    check_links(
        &[("in_b", "a/b"), ("a/b/to_a", "..")],
        &["in_b/to_a/one.md", "in_b/two.md"],
        &["a/b/to_a: Leaves", "in_b/to_a/b: Leaves"],
    );
}

#[test]
fn many_links_into_each_other_end_with_an_error_and_not_never() {
    let folder = TempDir::new().unwrap();
    for one in 0..12 {
        fs::create_dir(folder.path().join(one.to_string())).unwrap();
        for other in (0..12).filter(|other| *other != one) {
            symlink(format!("../{other}"), folder.path().join(format!("{one}/to{other}"))).unwrap();
        }
    }
    let result = Folder::new(folder.path()).snapshot();
    assert!(matches!(result, Err(Error::TooManyFiles { .. })), "{result:?}");
}

#[test]
fn names_that_are_no_paths_of_ours_are_left_out_and_shown_safely() {
    let folder = folder(&[
        "good.md",
        "line\nbreak.md",
        "back\\slash.md",
        "dots/.. /x.md",
        "%2e%2e/x.md",
        "esc\u{1b}[31m/x.md",
    ]);
    fs::write(folder.path().join(OsStr::from_bytes(b"latin-\xe4.md")), "x").unwrap();
    fs::create_dir(folder.path().join(OsStr::from_bytes(b"d-\xff"))).unwrap();
    let snapshot = snapshot(&folder);
    assert_eq!(names(&snapshot), ["good.md"]);
    let shown: Vec<_> = snapshot.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            r#"%2e%2e/x.md: "%2e%2e/x.md" is not a path that stays in its folder: it is percent-encoded; write it plainly"#,
            r#"back\slash.md: "back\\slash.md" is not a path that stays in its folder: write / between its parts"#,
            "d-\u{fffd}: the name is not UTF-8",
            "dots/.. : it is hidden: its name begins with a dot",
            r#"esc\u{1b}[31m/x.md: "esc\u{1b}[31m/x.md" is not a path that stays in its folder: it has a control character"#,
            "latin-\u{fffd}.md: the name is not UTF-8",
            r#"line\nbreak.md: "line\nbreak.md" is not a path that stays in its folder: it has a control character"#,
        ]
    );
}

#[test]
fn pipes_and_the_like_are_left_out() {
    let folder = folder(&["a.md"]);
    mknodat(CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    symlink("pipe", folder.path().join("to_pipe")).unwrap();
    let snapshot = snapshot(&folder);
    assert_eq!(names(&snapshot), ["a.md"]);
    assert_eq!(left_out(&snapshot), ["pipe: Special", "to_pipe: Special"]);
}

#[test]
fn a_folder_that_is_not_there_is_an_error_and_not_an_empty_one() {
    let folder = folder(&["a.md"]);
    for missing in ["nothing", "a.md"] {
        let result = Folder::new(folder.path().join(missing)).snapshot();
        assert!(matches!(result, Err(Error::NoFolder(_))), "{result:?}");
    }
}

#[test]
fn only_what_is_listed_can_be_read_and_only_up_to_the_limit() {
    let folder = folder(&["a.md", ".git/config"]);
    let snapshot = snapshot(&folder);
    write(folder.path(), "later.md", "later");
    for missing in ["later.md", ".git/config", "nothing.md"] {
        assert!(matches!(snapshot.read(&path(missing), MAX_BYTES), Err(ReadError::Missing)), "{missing}");
    }
    assert_eq!(snapshot.read(&path("a.md"), 4).unwrap(), b"a.md");
    assert!(matches!(snapshot.read(&path("a.md"), 3), Err(ReadError::TooLarge { size: 4, most: 3 })));
    // A folder returns the current content, within the limit.
    write(folder.path(), "a.md", "much longer");
    assert!(matches!(snapshot.read(&path("a.md"), 4), Err(ReadError::TooLarge { size: 11, most: 4 })));
    fs::remove_file(folder.path().join("a.md")).unwrap();
    assert!(matches!(snapshot.read(&path("a.md"), 4), Err(ReadError::Missing)));
}

#[test]
fn a_link_that_takes_the_place_of_a_file_or_folder_is_not_followed() {
    let folder = folder(&["a/b/file.md", "x.md", "other/file.md"]);
    symlink("x.md", folder.path().join("link.md")).unwrap();
    let snapshot = snapshot(&folder);
    // Even a symlink that stays inside, since it was not checked.
    let swap = |name: &str, target: &str| {
        let place = folder.path().join(name);
        fs::rename(&place, folder.path().join("moved")).unwrap();
        symlink(target, &place).unwrap();
    };
    let undo = |name: &str| {
        fs::remove_file(folder.path().join(name)).unwrap();
        fs::rename(folder.path().join("moved"), folder.path().join(name)).unwrap();
    };
    for (name, target, file) in [
        ("x.md", "/etc/hostname", "x.md"),
        ("x.md", "/etc/hostname", "link.md"),
        ("a", "/etc", "a/b/file.md"),
        ("a/b", "../other", "a/b/file.md"),
        ("a", "other", "a/b/file.md"),
    ] {
        swap(name, target);
        let result = snapshot.read(&path(file), MAX_BYTES);
        assert!(matches!(result, Err(ReadError::Leaves)), "{name} -> {target}: {result:?}");
        undo(name);
        assert!(snapshot.read(&path(file), MAX_BYTES).is_ok());
    }
}

#[test]
fn a_pipe_that_takes_the_place_of_a_file_does_not_hold_up_the_reader() {
    let folder = folder(&["a.md"]);
    let snapshot = snapshot(&folder);
    fs::remove_file(folder.path().join("a.md")).unwrap();
    mknodat(CWD, folder.path().join("a.md"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert!(matches!(snapshot.read(&path("a.md"), MAX_BYTES), Err(ReadError::Missing)));
}

#[test]
fn a_snapshot_stays_with_its_folder_when_another_takes_the_name() {
    let above = folder(&["one/a.md", "two/b.md"]);
    symlink("one", above.path().join("current")).unwrap();
    let source = Folder::new(above.path().join("current"));
    let before = source.snapshot().unwrap();
    fs::remove_file(above.path().join("current")).unwrap();
    symlink("two", above.path().join("current")).unwrap();
    assert_eq!(read(&before, "a.md"), "one/a.md");
    assert_eq!(names(&source.snapshot().unwrap()), ["b.md"]);
}

#[test]
fn entries_that_vanish_or_change_while_listing_do_no_harm() {
    let folder = folder(&["stays/a.md"]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let come_and_go = folder.path().join("stays/come_and_go");
            while !done.load(Ordering::Relaxed) {
                fs::create_dir_all(come_and_go.join("x/y")).unwrap();
                fs::write(come_and_go.join("x/y/file.md"), "x").unwrap();
                symlink("x", come_and_go.join("link")).unwrap();
                fs::remove_dir_all(&come_and_go).unwrap();
                symlink("/etc", &come_and_go).unwrap();
                fs::remove_file(&come_and_go).unwrap();
                fs::write(&come_and_go, "now a file").unwrap();
                fs::remove_file(&come_and_go).unwrap();
            }
        });
        for _ in 0..500 {
            let snapshot = snapshot(&folder);
            assert_eq!(read(&snapshot, "stays/a.md"), "stays/a.md");
            for file in snapshot.files().keys() {
                assert!(!file.as_str().contains("passwd"), "{file} is outside the folder");
                let _gone_by_now = snapshot.read(file, MAX_BYTES);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_change_changes_the_stamp_and_a_rest_does_not() {
    let folder = folder(&["a.md", "b.md", "c.md"]);
    let mut before = snapshot(&folder);
    // Timestamps of recent writes are not trusted yet.
    let settled = |before: &Snapshot| snapshot(&folder).changed_since(before) == 0;
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !settled(&before) {
        assert!(std::time::Instant::now() < until, "stamps never settle");
        before = snapshot(&folder);
    }
    let same_size = |content: &str| {
        let stamp = |snapshot: &Snapshot| snapshot.files()["a.md"].stamp.clone();
        let earlier = stamp(&snapshot(&folder));
        write(folder.path(), "a.md", content);
        assert_ne!(stamp(&snapshot(&folder)), earlier);
    };
    // Faster than the timestamp granularity of any file system.
    for _ in 0..200 {
        same_size("1.md");
        same_size("2.md");
    }
    fs::remove_file(folder.path().join("b.md")).unwrap();
    write(folder.path(), "d.md", "new");
    assert_eq!(snapshot(&folder).changed_since(&before), 3);
    assert_eq!(before.changed_since(&before.clone()), 0);
}

#[tokio::test]
async fn a_folder_is_a_source_that_is_always_here() {
    let folder = folder(&["a.md"]);
    let source = Source::Folder(Folder::new(folder.path()));
    assert_eq!(names(&source.local().unwrap().unwrap()), ["a.md"]);
    assert_eq!(names(&source.refresh().await.unwrap()), ["a.md"]);
    assert_eq!(source.kind(), crate::Kind::Folder);
}

/// Changes a folder; an incremental scan must find the same as a full scan.
#[track_caller]
fn check_incremental(paths: &[&str], change: impl Fn(&Path)) {
    let before = folder(&["a/b/one.md", "a/b-two.md", "a/b.md", "three.md", ".git/config"]);
    let first = snapshot(&before);
    change(before.path());
    let paths: Vec<_> = paths.iter().map(|path| Path::new(path).to_owned()).collect();
    let again = Folder::new(before.path()).snapshot_after(&first, &paths).unwrap();
    let all = snapshot(&before);
    assert_eq!(names(&again), names(&all), "{paths:?}");
    assert_eq!(again.problems(), all.problems(), "{paths:?}");
    for file in again.files().keys() {
        assert_eq!(again.read(file, MAX_BYTES).unwrap(), all.read(file, MAX_BYTES).unwrap(), "{file}");
        assert_eq!(again.files()[file].size, all.files()[file].size, "{file}");
    }
}

#[test]
fn looking_again_at_some_places_finds_what_looking_at_everything_does() {
    let remove = |root: &Path, place: &str| fs::remove_dir_all(root.join(place)).unwrap();
    check_incremental(&[], |_| {});
    check_incremental(&["a/b/one.md"], |root| write(root, "a/b/one.md", "longer than before"));
    check_incremental(&["a/b/new.md", "a/b/new.md"], |root| write(root, "a/b/new.md", "new"));
    check_incremental(&["three.md"], |root| fs::remove_file(root.join("three.md")).unwrap());
    check_incremental(&["new", "new/er"], |root| write(root, "new/er/x.md", "x"));
    check_incremental(&["a/b"], |root| remove(root, "a/b"));
    check_incremental(&["a", "a/b", "a/b/one.md"], |root| remove(root, "a"));
    check_incremental(&["a/b", "moved"], |root| fs::rename(root.join("a/b"), root.join("moved")).unwrap());
    check_incremental(&["three.md", "three.md/x.md"], |root| {
        fs::remove_file(root.join("three.md")).unwrap();
        write(root, "three.md/x.md", "x");
    });
    check_incremental(&["a/b"], |root| {
        remove(root, "a/b");
        write(root, "a/b", "a file now");
    });
    check_incremental(&[".git/config", "a/node_modules"], |root| {
        write(root, ".git/config", "x");
        write(root, "a/node_modules/x.md", "x");
    });
    check_incremental(&["a/link.md"], |root| symlink("b/one.md", root.join("a/link.md")).unwrap());
    check_incremental(&["gone/er"], |_| {});
    check_incremental(&[".gitignore"], |root| write(root, ".gitignore", "b.md\n"));
    check_incremental(&["a/b/.gitignore"], |root| write(root, "a/b/.gitignore", "*\n"));
    check_incremental(&["a/.env", "a/b/x.md~", ".venv", ".venv/lib/x.md"], |root| {
        write(root, "a/.env", "x");
        write(root, "a/b/x.md~", "x");
        write(root, ".venv/lib/x.md", "x");
    });
    check_incremental(&["a/\u{1}.md"], |root| write(root, "a/\u{1}.md", "x"));
}

#[test]
fn a_place_that_was_left_out_can_be_mended() {
    let folder = folder(&["a.md", "b/c.md"]);
    let pipe = folder.path().join("b/pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    let first = snapshot(&folder);
    assert_eq!(first.problems().len(), 1);
    fs::remove_file(&pipe).unwrap();
    let again = Folder::new(folder.path()).snapshot_after(&first, &["b/pipe".into()]).unwrap();
    assert!(again.problems().is_empty());
    assert_eq!(names(&again), ["a.md", "b/c.md"]);
}

#[test]
fn many_folders_are_all_found() {
    let files: Vec<String> = (0..300).map(|at| format!("f{}/g{at}/x.md", at % 7)).collect();
    let folder = folder(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let mut sorted = files;
    sorted.sort();
    assert_eq!(names(&snapshot(&folder)), sorted);
}
