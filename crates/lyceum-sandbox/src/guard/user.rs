//! The user that a script runs as.
//!
//! If the server is root, each run has its own uid and gid. So scripts can't reach each other, and the process
//! limit, which Linux counts per user, applies to one run.

use std::fs;

use rustix::{
    process::{Gid, Uid, geteuid},
    thread::{
        CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_thread_groups, set_thread_res_gid,
        set_thread_res_uid,
    },
};

use super::{Fault, context};
use crate::wire::{Mechanism, User};

/// First uid of our range; the supervisor's pid is added. No system assigns these to users or containers.
const FIRST_UID: u32 = 2_000_000_000;

/// `nobody`, for containers with few mapped uids.
pub(super) const NOBODY: u32 = 65_534;

/// Chooses the user of a run.
pub(super) fn choose(mechanism: &Mechanism) -> Result<User, Fault> {
    if *mechanism == Mechanism::None || !geteuid().is_root() {
        return Ok(User::Same);
    }
    let needed = CapabilitySet::SETUID
        | CapabilitySet::SETGID
        | CapabilitySet::CHOWN
        | CapabilitySet::KILL
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FOWNER;
    let have = capabilities(None).map_err(context("could not read the server's capabilities"))?;
    if !have.effective.contains(needed) {
        let text = "the server is root but can't run scripts as another user; run the server as a user other than root, or \
                    give it the capabilities SETUID, SETGID, CHOWN, KILL, DAC_OVERRIDE and FOWNER";
        return Err(text.to_owned());
    }
    let maps = ["/proc/self/uid_map", "/proc/self/gid_map"].map(fs::read_to_string);
    let is_usable = |id: u32| maps.iter().all(|map| map.as_ref().is_ok_and(|map| is_mapped(map, id)));
    let mut candidates = [FIRST_UID.saturating_add(std::process::id()), NOBODY].into_iter();
    let none = || {
        "this container has no mapped uid for scripts; run the server as a user other than root".to_owned()
    };
    candidates.find(|id| is_usable(*id)).map(User::Other).ok_or_else(none)
}

/// Switches to the user permanently, without capabilities.
pub(super) fn become_user(user: User) -> Result<(), Fault> {
    let failed = "could not change to the script's user";
    if let User::Other(id) = user {
        let (uid, gid) = (Uid::from_raw(id), Gid::from_raw(id));
        set_thread_groups(&[]).map_err(context(failed))?;
        set_thread_res_gid(gid, gid, gid).map_err(context(failed))?;
        set_thread_res_uid(uid, uid, uid).map_err(context(failed))?;
    }
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).map_err(context("could not drop the server's capabilities"))
}

/// Whether `/proc/self/uid_map` maps a uid; its lines are `first outside-first count`.
fn is_mapped(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(first)), Some(Ok(_)), Some(Ok(count))) => {
                id.checked_sub(first).is_some_and(|at| at < count)
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::is_mapped;

    #[track_caller]
    fn check(map: &str, id: u32, known: bool) {
        assert_eq!(is_mapped(map, id), known, "{id} in {map:?}");
    }

    #[test]
    fn a_container_knows_the_users_of_its_map() {
        let host = "         0          0 4294967295\n";
        check(host, 0, true);
        check(host, 2_000_004_000, true);
        let container = "0 1000 1\n1 100000 65536\n";
        check(container, 0, true);
        check(container, 65_534, true);
        check(container, 65_537, false);
        check(container, 2_000_004_000, false);
        check("", 0, false);
        check("nonsense", 0, false);
    }
}
