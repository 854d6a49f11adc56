//! The strict level: bubblewrap with its own file system, in which nothing else is visible.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    os::{
        fd::{AsFd, AsRawFd as _, OwnedFd},
        unix::{net::UnixStream, process::CommandExt as _},
    },
    path::Path,
    process::{Command, Stdio},
};

use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::{Resource, setrlimit},
    thread::set_no_new_privs,
};
use seccompiler::sock_filter;

use super::{Fault, confine::intercept_calls, rlimits, system_calls, system_paths};
use crate::{
    Network, Workspace, WorkspaceAccess,
    wire::{ChildMessage, Confinement},
};

/// Replaces this process by bubblewrap; returns only on failure.
///
/// Bubblewrap reports on the control socket: a line with `child-pid` when it has started its first process, and
/// one with `exit-code` when the script has exited, but only if the script was started.
pub(super) fn exec(bwrap: &Path, control: &mut UnixStream, confinement: &Confinement) -> ChildMessage {
    let prepared = prepare(control, confinement).map_err(ChildMessage::Refused).and_then(|prepared| {
        intercept_calls(control, confinement.network)?;
        Ok(prepared)
    });
    match prepared {
        Ok((status, filter)) => {
            let error = Command::new(bwrap)
                .args(arguments(confinement, &status, &filter))
                .env_clear()
                .envs(confinement.env.iter().cloned())
                .stdin(Stdio::null())
                .exec();
            ChildMessage::Refused(format!("could not start bubblewrap: {error}"))
        }
        Err(message) => message,
    }
}

fn prepare(control: &UnixStream, confinement: &Confinement) -> Result<(OwnedFd, OwnedFd), Fault> {
    let failed = |error: io::Error| format!("could not prepare bubblewrap: {error}");
    let plan = system_calls::Plan {
        network: confinement.network,
        guard_metadata: false,
        guard_truncation: false,
        guard_signals: false,
    };
    let filter = pipe_with(&system_calls::program(plan)?).map_err(failed)?;
    let status = control.as_fd().try_clone_to_owned().map_err(failed)?;
    for fd in [&filter, &status] {
        fcntl_setfd(fd, FdFlags::empty()).map_err(io::Error::from).map_err(failed)?;
    }
    let address_space = rlimits::address_space(confinement);
    setrlimit(Resource::As, address_space).map_err(io::Error::from).map_err(failed)?;
    // A setuid bubblewrap must run without its privileges.
    set_no_new_privs(true).map_err(io::Error::from).map_err(failed)?;
    Ok((status, filter))
}

/// Creates a pipe to read the filter from. The filter is smaller than a pipe buffer.
fn pipe_with(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let (reader, mut writer) = io::pipe()?;
    let bytes: Vec<u8> = program.iter().flat_map(instruction).collect();
    writer.write_all(&bytes)?;
    Ok(reader.into())
}

fn instruction(line: &sock_filter) -> [u8; 8] {
    let [code0, code1] = line.code.to_ne_bytes();
    let [k0, k1, k2, k3] = line.k.to_ne_bytes();
    [code0, code1, line.jt, line.jf, k0, k1, k2, k3]
}

fn arguments(confinement: &Confinement, status: &OwnedFd, filter: &OwnedFd) -> Vec<OsString> {
    let mut args = Arguments(Vec::new());
    args.add(&["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    args.add(&["--seccomp", &filter.as_raw_fd().to_string()]);
    args.add(&["--json-status-fd", &status.as_raw_fd().to_string()]);
    if confinement.network != Network::None {
        args.add(&["--share-net"]);
        system_paths::NETWORK_SETTINGS.iter().for_each(|path| args.read_only(path.as_ref()));
    }
    for path in system_paths::PROGRAMS {
        match fs::read_link(path) {
            Ok(target) => args.add_paths("--symlink", &target, path.as_ref()),
            Err(_no_link) => args.read_only(path.as_ref()),
        }
    }
    system_paths::SETTINGS.iter().for_each(|path| args.read_only(path.as_ref()));
    confinement.readable.iter().for_each(|path| args.read_only(path));
    if !system_paths::PROGRAMS.iter().any(|path| confinement.program.starts_with(path)) {
        args.read_only(&confinement.program);
    }
    args.add(&["--proc", "/proc", "--size", "65536", "--tmpfs", "/dev"]);
    for device in system_paths::DEVICES {
        args.add(&["--dev-bind", device, device]);
    }
    let links = [("fd", "fd"), ("fd/0", "stdin"), ("fd/1", "stdout"), ("fd/2", "stderr")];
    for (target, name) in links {
        args.add(&["--symlink", &format!("/proc/self/{target}"), &format!("/dev/{name}")]);
    }
    if let Some(Workspace { path, access }) = &confinement.workspace {
        let option = match access {
            WorkspaceAccess::Read => "--ro-bind",
            WorkspaceAccess::Write => "--bind",
        };
        args.add_paths(option, path, path);
    }
    args.add_paths("--ro-bind", &confinement.skill, &confinement.skill);
    args.add(&["--size", &confinement.limits.scratch_bytes.to_string(), "--perms", "0700", "--tmpfs"]);
    args.0.push(confinement.scratch.clone().into());
    args.add(&["--remount-ro", "/dev", "--remount-ro", "/", "--chdir"]);
    args.0.push(confinement.cwd.clone().into());
    args.add(&["--"]);
    args.0.push(confinement.program.clone().into());
    args.0.extend(confinement.args.iter().map(OsString::from));
    args.0
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn add_paths(&mut self, option: &str, from: &Path, to: &Path) {
        self.0.extend([option.into(), from.into(), to.into()]);
    }

    /// Skips paths that don't exist.
    fn read_only(&mut self, path: &Path) {
        self.add_paths("--ro-bind-try", path, path);
    }
}
