//! System calls without a safe wrapper.
#![expect(unsafe_code, reason = "these system calls have no safe wrapper; each says why its use is sound")]

use std::{
    ffi::{CStr, CString},
    io,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, process::CommandExt as _},
    },
    path::Path,
    process::Command,
};

use libc::{c_int, c_long};
use rustix::{
    io::Errno,
    process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit},
    thread::{UnshareFlags, unshare_unsafe},
};

/// Enters new namespaces.
pub(super) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    debug_assert!(!namespaces.contains(UnshareFlags::FILES));
    // SAFETY: only `FILES` can invalidate a file descriptor in use elsewhere, and no caller passes it.
    unsafe { unshare_unsafe(namespaces) }.map_err(io::Error::from)
}

/// Sets close-on-exec on all file descriptors but the three standard ones.
pub(super) fn close_others_on_exec() -> io::Result<()> {
    // SAFETY: this flag closes nothing now, so no owner of a descriptor is affected; there are no pointers.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    check(result)
}

/// Makes every mount of this mount namespace read-only and nosuid.
pub(super) fn make_mounts_read_only() -> io::Result<()> {
    let attr_set = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID;
    let attributes = libc::mount_attr { attr_set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    set_mount_attributes(c"/", libc::AT_RECURSIVE, &attributes)
}

/// Makes one mount writable again, but none below it.
pub(super) fn make_mount_writable(mount: &Path) -> io::Result<()> {
    let path = CString::new(mount.as_os_str().as_bytes())?;
    let attr_clr = libc::MOUNT_ATTR_RDONLY;
    let attributes = libc::mount_attr { attr_set: 0, attr_clr, propagation: 0, userns_fd: 0 };
    set_mount_attributes(&path, 0, &attributes)
}

fn set_mount_attributes(path: &CStr, flags: c_int, attributes: &libc::mount_attr) -> io::Result<()> {
    // SAFETY: both pointers are valid for the call, the path is NUL-terminated, and the size is that of the
    // structure.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const *attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result)
}

/// Kills the program when its parent exits, and limits its address space. The limit is not applied to this
/// process, which may have reserved more.
pub(super) fn kill_with_parent(command: &mut Command, address_space: Option<Rlimit>) {
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        address_space.map_or(Ok(()), |limit| Ok(setrlimit(Resource::As, limit)?))
    };
    // SAFETY: between fork and exec only two system calls are made, and nothing is allocated.
    unsafe { command.pre_exec(prepare) };
}

/// A system call of another process that waits for our response.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingCall {
    pub id: u64,
    /// Pid of the calling thread, in our namespace.
    pub thread: u32,
    pub number: c_int,
    pub args: [u64; 6],
}

/// Once a call is received, only a fatal signal interrupts it.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;

/// Makes these system calls of this process and its descendants wait for a response from the holder of the
/// returned descriptor. Other ABIs of the processor are not filtered here: the seccomp filter denies them.
pub(super) fn listen_to_calls(calls: &[c_long]) -> io::Result<OwnedFd> {
    const LOAD: u16 = 0x20;
    const SKIP_UNLESS_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let line = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
    let mut program = vec![line(LOAD, 0, 0)];
    for call in calls {
        let call = u32::try_from(*call).map_err(io::Error::other)?;
        program.extend([line(SKIP_UNLESS_EQUAL, 1, call), line(RETURN, 0, libc::SECCOMP_RET_USER_NOTIF)]);
    }
    program.push(line(RETURN, 0, libc::SECCOMP_RET_ALLOW));
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    let install = |flags: libc::c_ulong| {
        // SAFETY: the program is valid for the call and its length is correct; the kernel copies it.
        let listener = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        c_int::try_from(listener).ok().filter(|listener| *listener >= 0).ok_or_else(io::Error::last_os_error)
    };
    // A signal must not make a process repeat a call that was already executed. Linux before 5.19 can't guarantee
    // that.
    let new = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let listener = install(new | WAIT_KILLABLE).or_else(|_| install(new))?;
    // SAFETY: the kernel has just created this descriptor, and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// Receives the next call.
pub(super) fn receive_call(listener: &OwnedFd) -> io::Result<PendingCall> {
    let data = libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
    let mut call = libc::seccomp_notif { id: 0, pid: 0, flags: 0, data };
    // SAFETY: the structure is zeroed, as the kernel requires, and of the size that the request encodes.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
    check(result.into())?;
    Ok(PendingCall { id: call.id, thread: call.pid, number: call.data.nr, args: call.data.args })
}

/// Whether a call is still pending, so that its pid is still valid.
pub(super) fn is_pending(listener: &OwnedFd, id: u64) -> bool {
    // SAFETY: the kernel reads only the id that the pointer refers to.
    let result =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) };
    result == 0
}

/// Sends the result of a call. The kernel doesn't execute the call.
pub(super) fn respond_to_call(listener: &OwnedFd, id: u64, result: Result<usize, Errno>) -> io::Result<()> {
    let (val, error) = match result {
        Ok(value) => (i64::try_from(value).map_err(io::Error::other)?, 0),
        Err(errno) => (0, errno.raw_os_error().saturating_neg()),
    };
    let mut response = libc::seccomp_notif_resp { id, val, error, flags: 0 };
    // SAFETY: the structure is of the size that the request encodes, and valid for the call.
    let result =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
    check(result.into())
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
