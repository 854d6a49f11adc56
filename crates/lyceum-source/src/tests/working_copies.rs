//! Folders that are working copies of a Git repository.

use std::fs;

use lyceum_testkit::TestRepository;
use tempfile::TempDir;

use crate::{Folder, folder_links};

/// A repository whose work tree is a local clone.
fn working_copy(folder: &TempDir) -> TestRepository {
    let repository = TestRepository::with_format(folder.path(), "kb", "sha1").unwrap();
    fs::write(repository.work().join(".git"), format!("gitdir: {}\n", repository.path().display())).unwrap();
    repository
}

fn version(repository: &TestRepository, below: &str) -> String {
    Folder::new(repository.work().join(below)).snapshot().unwrap().version()
}

#[test]
fn a_clean_working_copy_has_the_commit_as_version() {
    let folder = TempDir::new().unwrap();
    let kb = working_copy(&folder);
    kb.write("a.md", "a").unwrap();
    kb.write("docs/b.md", "b").unwrap();
    kb.write(".hidden/c.md", "c").unwrap();
    kb.link("docs/link.md", "b.md").unwrap();
    assert!(version(&kb, "").starts_with("tree-"), "nothing is committed yet");
    let commit = kb.commit().unwrap();
    assert_eq!(version(&kb, ""), commit);
    assert_eq!(version(&kb, "docs"), commit);
    // A copy has other times than the index, so its content is compared.
    kb.write("docs/b.md", "b").unwrap();
    assert_eq!(version(&kb, ""), commit);
    // It is not a fetched repository, which skills trust less.
    assert_eq!(Folder::new(kb.work()).snapshot().unwrap().commit(), None);
}

#[test]
fn files_that_differ_from_the_commit_have_a_version_of_their_own() {
    let folder = TempDir::new().unwrap();
    let kb = working_copy(&folder);
    for file in ["a.md", "docs/b.md"] {
        kb.write(file, "same").unwrap();
    }
    let commit = kb.commit().unwrap();
    let changes: [(&str, &dyn Fn()); 3] = [
        ("changed, of the same size", &|| kb.write("docs/b.md", "SAME").unwrap()),
        ("new", &|| kb.write("docs/new.md", "same").unwrap()),
        ("deleted", &|| kb.remove("docs/b.md").unwrap()),
    ];
    for (what, change) in changes {
        change();
        assert!(version(&kb, "").starts_with("tree-"), "{what}");
        kb.git(["reset", "--quiet", "--hard"]).unwrap();
        kb.git(["clean", "--quiet", "--force", "-d"]).unwrap();
        assert_eq!(version(&kb, ""), commit, "{what}, undone");
    }
    // Excluded files don't matter.
    kb.write(".draft/x.md", "x").unwrap();
    assert_eq!(version(&kb, ""), commit);
    let next = {
        kb.write("a.md", "next").unwrap();
        kb.commit().unwrap()
    };
    assert_eq!(version(&kb, ""), next);
}

#[test]
fn the_links_of_a_clone_are_those_of_its_remote() {
    let folder = TempDir::new().unwrap();
    let kb = working_copy(&folder);
    kb.write("my docs/b.md", "b").unwrap();
    assert_eq!(folder_links(kb.work()), None);
    kb.git(["remote", "add", "origin", "git@github.com:acme/kb.git"]).unwrap();
    let blob = "https://github.com/acme/kb/blob/{commit}";
    assert_eq!(folder_links(kb.work()), Some(format!("{blob}/{{path}}")));
    assert_eq!(folder_links(&kb.work().join("my docs")), Some(format!("{blob}/my%20docs/{{path}}")));
    assert_eq!(folder_links(folder.path()), None);
}
