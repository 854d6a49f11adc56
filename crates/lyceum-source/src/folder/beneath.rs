//! Opening what is below a folder, without following a link on the way.

use std::{os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::{Errno, Result},
};

/// How often an opening is tried again that another process got in the way of.
#[cfg(target_os = "linux")]
const MAX_ATTEMPTS: usize = 16;

/// Opens the folder that everything else is opened from. Links on the way to it are its owner's choice.
pub(super) fn open_root(path: &Path) -> Result<OwnedFd> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a path below the root that holds no link; `.` is the root itself.
pub(super) fn open(root: &OwnedFd, path: &str, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    for _ in 0..MAX_ATTEMPTS {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(root, path, flags, Mode::empty(), resolve) {
            // Something was renamed meanwhile, and the kernel could not be sure.
            Err(Errno::AGAIN | Errno::INTR) => {}
            // An old kernel, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => break,
            opened => return opened,
        }
    }
    step_by_step(root, path, flags)
}

/// The same with one call for each part of the path: slower, and at home on every Unix.
fn step_by_step(root: &OwnedFd, path: &str, flags: OFlags) -> Result<OwnedFd> {
    let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut at: Option<OwnedFd> = None;
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        if part == ".." {
            return Err(Errno::XDEV);
        }
        // Linux says of a link that it is no folder, others that it is a link: either way it is not opened.
        at = Some(openat(at.as_ref().unwrap_or(root), part, folder_flags, Mode::empty())?);
    }
    openat(at.as_ref().unwrap_or(root), name, flags, Mode::empty())
}

#[cfg(test)]
mod tests;
