//! What the kernel lets each process of a run use up.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

use super::{Fault, doing, status, user::NOBODY};
use crate::wire::{Confinement, Mechanism, User};

/// Sets the limits of this process and of all that it starts, but for the address space.
pub(super) fn set(confinement: &Confinement) -> Result<(), Fault> {
    let limits = &confinement.limits;
    // Linux counts the processes of a user. Where others run as the same user, the limit comes on top of them.
    let others = match (confinement.user, &confinement.means) {
        (User::Same, Mechanism::Standard { namespaces: true, .. }) => 0,
        (User::Other(id), _) if id != NOBODY => 0,
        _ => threads_of(getuid().as_raw()),
    };
    // One process is ours.
    let processes = limits.processes.saturating_add(others).saturating_add(1);
    let seconds = limits.timeout.saturating_add(limits.grace).as_secs().saturating_add(1);
    let wanted = [
        (Resource::Cpu, seconds),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, processes),
        // Not 0: a program that collects core dumps is only kept away by 1, which is too small for a dump.
        (Resource::Core, 1),
        (Resource::Msgqueue, 0),
        (Resource::Memlock, limits.memory_bytes.min(1024 * 1024)),
    ];
    wanted.into_iter().try_for_each(|(resource, most)| lower(resource, most))
}

/// The limit of the address space, for the script only.
pub(super) fn address_space(confinement: &Confinement) -> Rlimit {
    lowered(Resource::As, confinement.limits.address_bytes)
}

/// Lowers a limit; one that is lower already stays.
fn lower(resource: Resource, most: u64) -> Result<(), Fault> {
    setrlimit(resource, lowered(resource, most))
        .map_err(doing(&format!("could not set the limit {resource:?}")))
}

fn lowered(resource: Resource, most: u64) -> Rlimit {
    let most = getrlimit(resource).maximum.map_or(most, |now| now.min(most));
    Rlimit { current: Some(most), maximum: Some(most) }
}

/// How many threads run as that user.
fn threads_of(uid: u32) -> u64 {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let processes = processes.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_process));
    let statuses = processes.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok());
    statuses.map(|status| threads_in(&status, uid)).sum()
}

/// The threads of a process, by its status, if it runs as that user.
fn threads_in(status: &str, uid: u32) -> u64 {
    match (status::number(status, "Uid:"), status::number(status, "Threads:")) {
        (Some(owner), Some(threads)) if owner == u64::from(uid) => threads,
        _ => 0,
    }
}
