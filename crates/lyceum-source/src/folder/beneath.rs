//! Opens paths below a folder without following symlinks.

use std::{os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::{Errno, Result},
};

/// Maximum number of `openat2` attempts when a concurrent rename interferes.
#[cfg(target_os = "linux")]
const MAX_ATTEMPTS: usize = 16;

/// Opens the root folder. Symlinks in its own path are followed: the operator chose them.
pub(super) fn open_root(path: &Path) -> Result<OwnedFd> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a path below the root; fails if it contains a symlink. `.` is the root itself.
pub(super) fn open(root: &OwnedFd, path: &str, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    for _ in 0..MAX_ATTEMPTS {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(root, path, flags, Mode::empty(), resolve) {
            // A concurrent rename; the kernel can't rule out an escape.
            Err(Errno::AGAIN | Errno::INTR) => {}
            // An old kernel, or a sandbox that blocks the system call.
            Err(Errno::NOSYS | Errno::PERM) => break,
            opened => return opened,
        }
    }
    step_by_step(root, path, flags)
}

/// Opens component by component: slower, but portable to every Unix.
fn step_by_step(root: &OwnedFd, path: &str, flags: OFlags) -> Result<OwnedFd> {
    let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut at: Option<OwnedFd> = None;
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        if part == ".." {
            return Err(Errno::XDEV);
        }
        // A symlink fails with ENOTDIR on Linux and with ELOOP elsewhere.
        at = Some(openat(at.as_ref().unwrap_or(root), part, folder_flags, Mode::empty())?);
    }
    openat(at.as_ref().unwrap_or(root), name, flags, Mode::empty())
}

#[cfg(test)]
mod tests;
