//! Location of the cgroup of a run.

use std::{fs, path::Path};

use super::{Group, is_delegated, oom_kills, parent_of_runs, remove_stale};
use crate::Limits;

const UNIFIED: &str = "24 1 0:22 / /proc rw - proc proc rw\n\
    36 25 0:31 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

#[track_caller]
fn check(own: &str, mounts: &str, parent: Option<&str>) {
    assert_eq!(parent_of_runs(own, mounts).as_deref(), parent.map(Path::new), "{own}");
}

#[test]
fn runs_become_siblings_of_the_server() {
    let service = "0::/system.slice/lyceum.service/server\n";
    check(service, UNIFIED, Some("/sys/fs/cgroup/system.slice/lyceum.service"));
    check("9:memory:/a\n0::/b/c\n", UNIFIED, Some("/sys/fs/cgroup/b"));
    check("0::/docker/1/server\n", &UNIFIED.replace(" / /sys", " /docker/1 /sys"), Some("/sys/fs/cgroup/"));
}

#[test]
fn without_a_group_above_the_servers_there_is_none_for_runs() {
    check("0::/\n", UNIFIED, None);
    check("0::/elsewhere\n", &UNIFIED.replace(" / /sys", " /docker/1 /sys"), None);
    check("4:memory:/a/b\n", UNIFIED, None);
    check("0::/a/b\n", "24 1 0:22 / /proc rw - proc proc rw\n", None);
}

#[test]
fn only_what_was_delegated_with_its_controllers_is_used() {
    let group = tempfile::tempdir().unwrap();
    assert!(!is_delegated(group.path()), "not a cgroup");
    let is_root = rustix::process::geteuid().is_root();
    for (controllers, enough) in [("cpu memory pids\n", true), ("memory\n", false), ("hugetlb\n", false)] {
        fs::write(group.path().join("cgroup.subtree_control"), controllers).unwrap();
        // For root, ownership alone is not delegation.
        assert_eq!(is_delegated(group.path()), enough && !is_root, "{controllers}");
    }
}

#[test]
fn a_group_that_the_kernel_does_not_fill_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Group::create_in(folder.path(), &Limits::default()).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the incomplete cgroup is removed");
}

#[test]
fn the_kernel_says_whether_memory_was_used_up() {
    assert_eq!(oom_kills("low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n"), 3);
    assert_eq!(oom_kills("oom 0\noom_kill 0\n"), 0);
    assert_eq!(oom_kills(""), 0);
}

#[test]
fn groups_that_killed_supervisors_left_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    // The first pid is above the kernel's maximum; the second is our own.
    let (gone, alive) = (i32::MAX, std::process::id());
    let names =
        [format!("lyceum-run-{gone}"), format!("lyceum-run-{alive}"), "lyceum-run-x".into(), "server".into()];
    names.iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
    remove_stale(folder.path());
    let left = names.iter().map(|name| folder.path().join(name).exists());
    assert_eq!(left.collect::<Vec<_>>(), [false, true, true, true]);
}
