//! The system calls that have no safe form.
#![expect(unsafe_code, reason = "these system calls have no safe form; each says why its use is sound")]

use std::{io, os::unix::process::CommandExt as _, process::Command};

use rustix::{
    process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit},
    thread::{UnshareFlags, unshare_unsafe},
};

/// Leaves the namespaces of the parent.
pub(super) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    debug_assert!(!namespaces.contains(UnshareFlags::FILES));
    // SAFETY: only `FILES` can make a file descriptor invalid that is in use elsewhere, and nobody asks for it here.
    unsafe { unshare_unsafe(namespaces) }.map_err(io::Error::from)
}

/// Marks every file descriptor but the three standard ones to be closed when another program is executed.
pub(super) fn close_others_on_exec() -> io::Result<()> {
    // SAFETY: with this flag nothing is closed now, so that no owner of a descriptor can notice; there are no pointers.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    check(result)
}

/// Makes every mount of this mount namespace read-only, and programs there unable to change the user.
pub(super) fn make_mounts_read_only() -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: both pointers are valid for the call, the path ends with NUL, and the size is that of the structure.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result)
}

/// Has the program killed when the process that starts it ends, and limits its address space. This process itself may
/// have reserved more than that.
pub(super) fn end_with_parent(command: &mut Command, address_space: Option<Rlimit>) {
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        address_space.map_or(Ok(()), |limit| Ok(setrlimit(Resource::As, limit)?))
    };
    // SAFETY: between fork and exec only two system calls are made, and nothing is allocated.
    unsafe { command.pre_exec(prepare) };
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
