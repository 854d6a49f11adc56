//! Known hosts, and percent-encoding of paths.

use super::{encode_path, file_links};

#[track_caller]
fn check(repository: &str, links: Option<&str>) {
    assert_eq!(file_links(repository).as_deref(), links, "{repository:?}");
}

#[test]
fn servers_that_are_known_show_files_at_a_commit() {
    let github = Some("https://github.com/team/kb/blob/{commit}/{path}");
    check("https://github.com/team/kb.git", github);
    check("https://github.com/team/kb", github);
    check("git@github.com:team/kb.git", github);
    check("ssh://git@github.com:22/team/kb.git", github);
    check("https://gitlab.com/a/b/c.git", Some("https://gitlab.com/a/b/c/-/blob/{commit}/{path}"));
    check("https://codeberg.org/team/kb/", Some("https://codeberg.org/team/kb/src/commit/{commit}/{path}"));
}

#[test]
fn others_do_not() {
    check("https://git.example.org/team/kb.git", None);
    check("file:///srv/github.com/team/kb.git", None);
    check("/srv/kb", None);
    check("https://github.com/", None);
}

#[test]
fn a_path_can_stand_in_an_address() {
    assert_eq!(encode_path("tags/été #1.md"), "tags/%C3%A9t%C3%A9%20%231.md");
}
