//! Namespaces of a run: PID, network, IPC, UTS and mounts.
//!
//! Every mount is read-only in them, so that what Landlock doesn't cover (mode, owner and times of a file) can't
//! be changed either. The scratch folder is a tmpfs of limited size.

use std::{fs, path::Path};

use rustix::{
    fs::{StatVfsMountFlags, statvfs},
    mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change},
    process::{getegid, geteuid},
    thread::UnshareFlags,
};

use super::{Fault, context, raw};
use crate::{Network, Workspace, WorkspaceAccess, wire::User};

/// Maximum number of files and folders in the scratch folder.
pub(super) const SCRATCH_ENTRIES: u64 = 16_384;

/// The scratch folder of a run.
pub(super) struct Scratch<'a> {
    pub path: &'a Path,
    pub bytes: u64,
    pub user: User,
}

/// Enters new namespaces. The PID namespace applies to children only.
pub(super) fn enter(
    network: Network,
    scratch: &Scratch<'_>,
    workspace: Option<&Workspace>,
) -> Result<(), Fault> {
    let failed = "could not create namespaces";
    let (uid, gid) = (geteuid(), getegid());
    let mut flags = UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS | UnshareFlags::NEWNS;
    flags.set(UnshareFlags::NEWNET, network == Network::None);
    flags.set(UnshareFlags::NEWUSER, !uid.is_root());
    raw::unshare(flags).map_err(context(failed))?;
    if !uid.is_root() {
        let (uid, gid) = (uid.as_raw(), gid.as_raw());
        fs::write("/proc/self/setgroups", "deny").map_err(context(failed))?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).map_err(context(failed))?;
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).map_err(context(failed))?;
    }

    let failed = "could not set up the mounts of the run";
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(context(failed))?;
    // A mount that is read-only on the host stays so.
    let written = workspace.filter(|workspace| workspace.access == WorkspaceAccess::Write);
    let written = written.map(|workspace| workspace.path.as_path()).filter(|path| is_writable_mount(path));
    if let Some(path) = written {
        mount_bind_recursive(path, path).map_err(context(failed))?;
    }
    raw::make_mounts_read_only().map_err(context(failed))?;
    if let Some(path) = written {
        raw::make_mount_writable(path).map_err(context("could not make the workspace writable"))?;
    }
    let owner = match scratch.user {
        User::Same => (uid.as_raw(), gid.as_raw()),
        User::Other(id) => (id, id),
    };
    let options = format!(
        "size={},nr_inodes={SCRATCH_ENTRIES},mode=0700,uid={},gid={}\0",
        scratch.bytes, owner.0, owner.1
    );
    let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).map_err(context(failed))?;
    mount(c"tmpfs", scratch.path, c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options)
        .map_err(context("could not mount the scratch folder"))
}

fn is_writable_mount(path: &Path) -> bool {
    statvfs(path).is_ok_and(|mount| !mount.f_flag.contains(StatVfsMountFlags::RDONLY))
}
