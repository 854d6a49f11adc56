//! Resource limits of each process of a run.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

use super::{Fault, context, status, user::NOBODY};
use crate::wire::{Confinement, Mechanism, User};

/// Sets the limits of this process and its descendants, except for the address space.
pub(super) fn set(confinement: &Confinement) -> Result<(), Fault> {
    let limits = &confinement.limits;
    // Linux counts processes per user. If others run as the same user, add them to the limit.
    let others = match (confinement.user, &confinement.mechanism) {
        (User::Same, Mechanism::Standard { namespaces: true, .. }) => 0,
        (User::Other(id), _) if id != NOBODY => 0,
        _ => threads_of(getuid().as_raw()),
    };
    // One process is the helper.
    let processes = limits.processes.saturating_add(others).saturating_add(1);
    let seconds = limits.timeout.saturating_add(limits.grace).as_secs().saturating_add(1);
    let rlimits = [
        (Resource::Cpu, seconds),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, processes),
        // Not 0: only 1 disables core dumps to a pipe, and it is too small for a dump to a file.
        (Resource::Core, 1),
        (Resource::Msgqueue, 0),
        (Resource::Memlock, limits.memory_bytes.min(1024 * 1024)),
    ];
    rlimits.into_iter().try_for_each(|(resource, max)| lower(resource, max))
}

/// Address space limit, for the script only.
pub(super) fn address_space(confinement: &Confinement) -> Rlimit {
    lowered(Resource::As, confinement.limits.address_bytes)
}

/// Lowers a limit; never raises it.
fn lower(resource: Resource, max: u64) -> Result<(), Fault> {
    setrlimit(resource, lowered(resource, max))
        .map_err(context(&format!("could not set the resource limit {resource:?}")))
}

fn lowered(resource: Resource, max: u64) -> Rlimit {
    let max = getrlimit(resource).maximum.map_or(max, |now| now.min(max));
    Rlimit { current: Some(max), maximum: Some(max) }
}

/// Number of threads of a user.
fn threads_of(uid: u32) -> u64 {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let processes = processes.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_process));
    let statuses = processes.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok());
    statuses.map(|status| threads_in(&status, uid)).sum()
}

/// Number of threads of a process, from its status, if it belongs to the user.
fn threads_in(status: &str, uid: u32) -> u64 {
    match (status::number(status, "Uid:"), status::number(status, "Threads:")) {
        (Some(owner), Some(threads)) if owner == u64::from(uid) => threads,
        _ => 0,
    }
}
