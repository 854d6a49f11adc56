//! The repository, with a generated bundle.

use std::fs;
use std::path::{Path, PathBuf};

use super::{GIT_TIMEOUT, Origin, git};
use lyceum_harness::process;
use lyceum_harness::scratch::Scratch;

/// A bundle with 250 documents and two other files.
fn bundle(scratch: &Scratch) -> PathBuf {
    let (folder, outputs) = (scratch.folder("made").unwrap(), scratch.folder("said").unwrap());
    let file = scratch.path().join("made.bundle");
    for number in 0..250 {
        let kind = if number % 2 == 0 { "md" } else { "MD" };
        fs::write(folder.join(format!("é {number:03}.{kind}")), "text").unwrap();
    }
    fs::write(folder.join("notes.txt"), "text").unwrap();
    fs::write(folder.join("md"), "text").unwrap();
    let run = |args: &[&str]| process::output(git(&folder).args(args), &outputs, GIT_TIMEOUT).unwrap();
    run(&["init", "--quiet"]);
    run(&["add", "."]);
    run(&["commit", "--quiet", "--message", "All"]);
    run(&["bundle", "create", "--quiet", file.to_str().unwrap(), "HEAD", "main"]);
    file
}

#[test]
fn one_file_in_a_hundred_is_edited_in_one_commit_that_is_served() {
    let scratch = Scratch::new().unwrap();
    let mut origin = Origin::of(&bundle(&scratch), &scratch, None).unwrap();
    assert_eq!(origin.documents().unwrap().len(), 250);
    let before = origin.head().unwrap();
    assert_eq!(origin.edit().unwrap(), 3);
    assert_eq!(origin.edit().unwrap(), 3);
    assert_ne!(origin.head().unwrap(), before);
    assert_eq!(
        fs::read_to_string(origin.bare.join("refs/heads/main")).unwrap().trim(),
        origin.head().unwrap()
    );
    let changed = origin.git(&["diff", "--name-only", "-z", &before]).unwrap();
    assert_eq!(changed.split_terminator('\0').count(), 6);
}

#[test]
fn so_many_documents_are_left_from_all_over() {
    let scratch = Scratch::new().unwrap();
    let origin = Origin::of(&bundle(&scratch), &scratch, Some(100)).unwrap();
    let left = origin.documents().unwrap();
    assert_eq!(left.len(), 100);
    assert!(left.first().unwrap() < Path::new("é 010.md") && left.last().unwrap() > Path::new("é 240.md"));
}
