//! Namespaces of the run's own: its processes, network, IPC, host name and mounts.
//!
//! In them every mount is read-only, so that what Landlock does not cover (the mode, owner and times of a file) can't
//! be changed either, and the scratch folder is in memory and of limited size.

use std::{fs, path::Path};

use rustix::{
    fs::{StatVfsMountFlags, statvfs},
    mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change},
    process::{getegid, geteuid},
    thread::UnshareFlags,
};

use super::{Fault, doing, raw};
use crate::{Network, Workspace, WorkspaceAccess, wire::User};

/// How many files and folders the scratch folder takes.
pub(super) const SCRATCH_ENTRIES: u64 = 16_384;

/// The scratch folder of a run.
pub(super) struct Scratch<'a> {
    pub path: &'a Path,
    pub bytes: u64,
    pub user: User,
}

/// Leaves the server's namespaces. The process itself keeps its process number; its children get new ones.
pub(super) fn enter(
    network: Network,
    scratch: &Scratch<'_>,
    workspace: Option<&Workspace>,
) -> Result<(), Fault> {
    let failed = "could not make namespaces";
    let (uid, gid) = (geteuid(), getegid());
    let mut flags = UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS | UnshareFlags::NEWNS;
    flags.set(UnshareFlags::NEWNET, network == Network::None);
    flags.set(UnshareFlags::NEWUSER, !uid.is_root());
    raw::unshare(flags).map_err(doing(failed))?;
    if !uid.is_root() {
        let (uid, gid) = (uid.as_raw(), gid.as_raw());
        fs::write("/proc/self/setgroups", "deny").map_err(doing(failed))?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).map_err(doing(failed))?;
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).map_err(doing(failed))?;
    }

    let failed = "could not make mounts of the run's own";
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).map_err(doing(failed))?;
    // One that can't be written to here stays so.
    let written = workspace.filter(|workspace| workspace.access == WorkspaceAccess::Write);
    let written = written.map(|workspace| workspace.path.as_path()).filter(|path| is_writable_mount(path));
    if let Some(path) = written {
        mount_bind_recursive(path, path).map_err(doing(failed))?;
    }
    raw::make_mounts_read_only().map_err(doing(failed))?;
    if let Some(path) = written {
        raw::make_mount_writable(path).map_err(doing("could not make the workspace writable"))?;
    }
    let owner = match scratch.user {
        User::Same => (uid.as_raw(), gid.as_raw()),
        User::Other(id) => (id, id),
    };
    let options = format!(
        "size={},nr_inodes={SCRATCH_ENTRIES},mode=0700,uid={},gid={}\0",
        scratch.bytes, owner.0, owner.1
    );
    let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).map_err(doing(failed))?;
    mount(c"tmpfs", scratch.path, c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options)
        .map_err(doing("could not mount the scratch folder"))
}

fn is_writable_mount(path: &Path) -> bool {
    statvfs(path).is_ok_and(|mount| !mount.f_flag.contains(StatVfsMountFlags::RDONLY))
}
