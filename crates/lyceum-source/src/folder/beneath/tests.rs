//! `openat2` and the portable fallback agree.

use std::{fs, os::unix::fs::symlink};

use rustix::fs::OFlags;
use tempfile::TempDir;

use super::{open, open_root, step_by_step};

#[test]
fn a_path_is_opened_only_where_no_link_is_on_the_way() {
    let folder = TempDir::new().unwrap();
    let root = open_root(folder.path()).unwrap();
    fs::create_dir_all(folder.path().join("a/b")).unwrap();
    fs::write(folder.path().join("a/b/file"), "x").unwrap();
    symlink("a", folder.path().join("link")).unwrap();
    symlink("b/file", folder.path().join("a/to_file")).unwrap();
    symlink("/", folder.path().join("out")).unwrap();
    let check = |path: &str, opens: bool| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        assert_eq!(open(&root, path, flags).is_ok(), opens, "{path}");
        assert_eq!(step_by_step(&root, path, flags).is_ok(), opens, "{path} step by step");
    };
    check("a/b/file", true);
    check("a/b", true);
    check(".", true);
    check("a/b/nothing", false);
    check("link/b/file", false);
    check("link", false);
    check("a/to_file", false);
    check("out/etc/hostname", false);
    check("a/../../etc", false);
}
