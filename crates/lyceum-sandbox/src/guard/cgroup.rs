//! A control group (cgroup v2) of the run's own, where one was delegated to the server: there the kernel itself limits the
//! memory and the number of all processes of a run together.
//!
//! A group that has processes can't have limited groups below it. So runs become siblings of the server: the server must
//! be in a subgroup of what was delegated, as systemd does with `Delegate=memory pids` and `DelegateSubgroup=server`. What
//! was not delegated belongs to somebody else (mostly systemd) and is left alone, also where root could write to it.

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

/// The mark of systemd on a group that it delegated.
const DELEGATE_XATTR: &str = "user.delegate";

/// What the name of a run's group starts with; the number of its supervisor follows.
const PREFIX: &str = "lyceum-run-";

/// What the supervised process and bubblewrap need beside the script's own processes.
const OWN_PROCESSES: u64 = 4;

/// How long the kernel may take to forget the processes of a group.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The group of a run. Dropping it removes it; its processes must have ended.
pub(super) struct Group {
    /// The group above it, as it was before any namespace: there it can be written to when all else is read-only.
    parent: OwnedFd,
    name: String,
}

impl Group {
    /// Makes the group, if this machine lets us. Otherwise memory has to be polled.
    pub(super) fn make(limits: &Limits) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let parent = parent_of_runs(&own, &mounts).filter(|parent| is_delegated(parent))?;
        Self::make_in(&parent, limits).ok()
    }

    fn make_in(parent: &Path, limits: &Limits) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = open(parent, flags, Mode::empty())?;
        let group = Self { parent, name: format!("{PREFIX}{}", std::process::id()) };
        remove_stale(&group.folder());
        fs::create_dir(group.path())?;
        // The scratch folder may be in memory, and then counts too.
        let memory = limits.memory_bytes.saturating_add(limits.scratch_bytes);
        group.write("memory.max", &memory.to_string())?;
        group.write("pids.max", &limits.processes.saturating_add(OWN_PROCESSES).to_string())?;
        group.write("memory.oom.group", "1")?;
        // Not every kernel counts swap.
        let _no_swap = group.write("memory.swap.max", "0");
        Ok(group)
    }

    /// Takes a process in, and with it all that it starts from now on.
    pub(super) fn take_in(&self, process: Pid) -> io::Result<()> {
        self.write("cgroup.procs", &process.as_raw_pid().to_string())
    }

    /// Whether the kernel killed the group because it had used up its memory.
    pub(super) fn was_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.path().join("memory.events")).unwrap_or_default();
        killed_in(&events) > 0
    }

    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        // Not `fs::write`, which would make a file that is not there.
        let mut file = fs::OpenOptions::new().write(true).open(self.path().join(file))?;
        io::Write::write_all(&mut file, value.as_bytes())
    }

    fn path(&self) -> PathBuf {
        self.folder().join(&self.name)
    }

    /// The group above it.
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

/// Removes the groups whose supervisors were killed. The kernel removes none that has processes, and one whose supervisor
/// lives may be about to get its first.
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

/// The group above our own, by the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn parent_of_runs(own: &str, mounts: &str) -> Option<PathBuf> {
    let own = Path::new(own.lines().find_map(|line| line.strip_prefix("0::"))?);
    let (root, mount) = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut fields = place.split(' ').skip(3);
        let (root, mount) = (fields.next()?, fields.next()?);
        kind.starts_with("cgroup2 ").then_some((root, mount))
    })?;
    let below = own.strip_prefix(root).ok()?.parent()?;
    Some(Path::new(mount).join(below))
}

/// Whether a group was given to us, with the controllers that we need.
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

/// How many processes the kernel has killed, by the text of `memory.events`.
fn killed_in(events: &str) -> u64 {
    let line = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
