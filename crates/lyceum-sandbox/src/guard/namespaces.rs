//! Namespaces of the run's own: its processes, network, IPC, host name and mounts.
//!
//! In them every mount is read-only, so that what Landlock does not cover (the mode, owner and times of a file) can't
//! be changed either, and the scratch folder is in memory and of limited size.

use std::{fs, path::Path};

use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_change},
    process::{getegid, geteuid},
    thread::UnshareFlags,
};

use super::{Fault, doing, raw};
use crate::{Network, wire::User};

/// How many files and folders the scratch folder takes.
pub(super) const SCRATCH_ENTRIES: u64 = 16_384;

/// The scratch folder of a run.
pub(super) struct Scratch<'a> {
    pub path: &'a Path,
    pub bytes: u64,
    pub user: User,
}

/// Leaves the server's namespaces. The process itself keeps its process number; its children get new ones.
pub(super) fn enter(network: Network, scratch: &Scratch<'_>) -> Result<(), Fault> {
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
    raw::make_mounts_read_only().map_err(doing(failed))?;
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
