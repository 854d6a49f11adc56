//! The generated corpus.

use std::fs;

use super::{Corpus, count_files, with_keyword};
use lyceum_harness::scratch::Scratch;

#[test]
fn the_same_files_are_written_in_every_run() {
    let (first, second) = (Scratch::new().unwrap(), Scratch::new().unwrap());
    let one = Corpus::write(first.path().to_owned(), 120).unwrap();
    let other = Corpus::write(second.path().to_owned(), 120).unwrap();
    assert_eq!((one.skills, one.packs.len()), (120, 3));
    assert_eq!(one.tasks(50), other.tasks(50));
    assert_eq!(fs::read(&one.document).unwrap(), fs::read(&other.document).unwrap());
    assert_eq!(count_files(&one.root).unwrap(), 60 + 2 * 6 + 3 * 60);
}

#[test]
fn an_edit_replaces_the_edit_before() {
    let first = with_keyword("first", "---\nkeywords: [one, two]\n---\n").unwrap();
    assert_eq!(first, "---\nkeywords: [first]\n---\n");
    assert_eq!(with_keyword("second", &first).unwrap(), "---\nkeywords: [second]\n---\n");
    assert!(with_keyword("first", "no frontmatter").is_none());
}
