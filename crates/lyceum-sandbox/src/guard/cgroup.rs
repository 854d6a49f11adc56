//! A cgroup (v2) per run, if one was delegated to the server: the kernel then limits the memory and number of all
//! processes of a run.
//!
//! A cgroup with processes can't have children with limits. So runs become siblings of the server: the server must
//! be in a subgroup of the delegated cgroup, as systemd sets up with `Delegate=memory pids` and
//! `DelegateSubgroup=server`. Cgroups that were not delegated belong to somebody else (mostly systemd) and are
//! left alone, even if root could write to them.

use std::{
    fs, io,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    fs::{Mode, OFlags, getxattr, open},
    io::Errno,
    process::{Pid, geteuid, test_kill_process},
};

use crate::Limits;

/// Extended attribute that systemd sets on delegated cgroups.
const DELEGATE_XATTR: &str = "user.delegate";

/// Name prefix of the cgroup of a run; the supervisor's pid follows.
const PREFIX: &str = "lyceum-run-";

/// Number of processes of ours in the cgroup: the confined helper and bubblewrap.
const OWN_PROCESSES: u64 = 4;

/// Timeout for the kernel to reap the processes of a cgroup.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The cgroup of a run. Removed on drop; its processes must have ended.
pub(super) struct Group {
    /// The parent cgroup, opened before entering any namespace: still writable when all mounts are read-only.
    parent: OwnedFd,
    name: String,
}

impl Group {
    /// Creates the cgroup, if delegated. Otherwise memory has to be polled.
    pub(super) fn create(limits: &Limits) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let parent = parent_of_runs(&own, &mounts).filter(|parent| is_delegated(parent))?;
        Self::create_in(&parent, limits).ok()
    }

    fn create_in(parent: &Path, limits: &Limits) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = open(parent, flags, Mode::empty())?;
        let group = Self { parent, name: format!("{PREFIX}{}", std::process::id()) };
        remove_stale(&group.folder());
        fs::create_dir(group.path())?;
        // The scratch folder may be a tmpfs, which counts as memory.
        let memory = limits.memory_bytes.saturating_add(limits.scratch_bytes);
        group.write("memory.max", &memory.to_string())?;
        group.write("pids.max", &limits.processes.saturating_add(OWN_PROCESSES).to_string())?;
        group.write("memory.oom.group", "1")?;
        // Not every kernel supports swap accounting.
        let _no_swap = group.write("memory.swap.max", "0");
        Ok(group)
    }

    /// Moves a process into the cgroup, and with it all that it starts from now on.
    pub(super) fn add_process(&self, process: Pid) -> io::Result<()> {
        self.write("cgroup.procs", &process.as_raw_pid().to_string())
    }

    /// Whether the OOM killer ended the run.
    pub(super) fn was_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.path().join("memory.events")).unwrap_or_default();
        oom_kills(&events) > 0
    }

    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        // Not `fs::write`, which would create a missing file.
        let mut file = fs::OpenOptions::new().write(true).open(self.path().join(file))?;
        io::Write::write_all(&mut file, value.as_bytes())
    }

    fn path(&self) -> PathBuf {
        self.folder().join(&self.name)
    }

    /// Path of the parent cgroup.
    fn folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.parent.as_raw_fd()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let until = Instant::now() + DRAIN_TIMEOUT;
        while fs::remove_dir(self.path()).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
            && Instant::now() < until
        {
            std::thread::yield_now();
        }
    }
}

/// Removes cgroups of killed supervisors. The kernel refuses to remove a cgroup with processes; one whose
/// supervisor is alive may be about to get its first.
fn remove_stale(parent: &Path) {
    let Ok(groups) = fs::read_dir(parent) else { return };
    for group in groups.flatten() {
        let name = group.file_name();
        let supervisor = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
        let is_gone = |pid| test_kill_process(pid) == Err(Errno::SRCH);
        if supervisor.and_then(Pid::from_raw).is_some_and(is_gone) {
            let _has_processes = fs::remove_dir(group.path());
        }
    }
}

/// Finds the parent of our own cgroup in `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn parent_of_runs(own: &str, mounts: &str) -> Option<PathBuf> {
    let own = Path::new(own.lines().find_map(|line| line.strip_prefix("0::"))?);
    let (root, mount) = mounts.lines().find_map(|line| {
        let (mount_fields, kind) = line.split_once(" - ")?;
        let mut fields = mount_fields.split(' ').skip(3);
        let (root, mount) = (fields.next()?, fields.next()?);
        kind.starts_with("cgroup2 ").then_some((root, mount))
    })?;
    let below = own.strip_prefix(root).ok()?.parent()?;
    Some(Path::new(mount).join(below))
}

/// Whether a cgroup was delegated to us, with the required controllers.
fn is_delegated(group: &Path) -> bool {
    let controllers = fs::read_to_string(group.join("cgroup.subtree_control")).unwrap_or_default();
    let has = |name: &str| controllers.split_whitespace().any(|controller| controller == name);
    let Ok(metadata) = group.metadata() else { return false };
    let user = geteuid();
    let ours = metadata.uid() == user.as_raw();
    let marked = || {
        let mut mark = [0; 8];
        getxattr(group, DELEGATE_XATTR, &mut mark).is_ok_and(|length| mark.get(..length) == Some(b"1"))
    };
    has("memory") && has("pids") && ours && (!user.is_root() || marked())
}

/// Number of OOM kills in `memory.events`.
fn oom_kills(events: &str) -> u64 {
    let line = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
