//! Landlock: which files a script may reach, no port, no abstract socket and no signal outside.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope, make_bitflags,
};

use super::{Fault, doing, system_paths};
use crate::{
    Network, Workspace, WorkspaceAccess,
    wire::{Confinement, Rights},
};

/// What the kernel could be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CoveredRights {
    /// Shortening a file by its path, since Linux 6.2.
    pub truncation: bool,
    /// Signals to processes outside, since Linux 6.12.
    pub signals: bool,
}

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});

const USE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile});

const OWN: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    Execute | ReadFile | ReadDir | WriteFile | Truncate | Refer
    | MakeReg | MakeDir | MakeSym | MakeFifo | RemoveFile | RemoveDir
});

/// What can be said of a file that is no folder.
const OF_FILES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{Execute | ReadFile | WriteFile | Truncate});

/// Restricts this process and all that it starts, for ever.
pub(super) fn restrict(confinement: &Confinement, rights: Rights) -> Result<CoveredRights, Fault> {
    let failed = "Landlock could not be put on";
    let abi = match rights {
        Rights::Best => ABI::V9,
        Rights::First => ABI::V1,
    };
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(abi)).map_err(doing(failed))?;
    if rights == Rights::Best {
        // With any network every port may be called, but none may be offered. With a public one the supervisor calls.
        let ports = match confinement.network {
            Network::Any => AccessNet::BindTcp.into(),
            Network::None | Network::Public => AccessNet::from_all(abi),
        };
        rules = rules.handle_access(ports).map_err(doing(failed))?;
        rules = rules.scope(Scope::from_all(abi)).map_err(doing(failed))?;
    }
    let mut rules = rules.create().map_err(doing(failed))?;
    rules = allow(rules, &confinement.skill, READ)?;
    // A right that is not asked for is not withheld, so that it can't be given either.
    rules = allow(rules, &confinement.scratch, OWN & AccessFs::from_all(abi))?;
    for path in system_paths::PROGRAMS.iter().chain(system_paths::SETTINGS) {
        rules = allow_if_there(rules, path.as_ref(), READ)?;
    }
    for path in system_paths::DEVICES {
        rules = allow_if_there(rules, path.as_ref(), USE)?;
    }
    for path in confinement.readable.iter().chain([&confinement.program]) {
        rules = allow_if_there(rules, path, READ)?;
    }
    if let Some(Workspace { path, access }) = &confinement.workspace {
        let rights = match access {
            WorkspaceAccess::Read => READ,
            WorkspaceAccess::Write => OWN & AccessFs::from_all(abi),
        };
        rules = allow(rules, path, rights)?;
    }
    if confinement.network != Network::None {
        for path in system_paths::NETWORK_SETTINGS {
            rules = allow_if_there(rules, path.as_ref(), READ)?;
        }
    }
    let status = rules.restrict_self().map_err(doing(failed))?;
    match (status.ruleset, status.landlock) {
        (_, LandlockStatus::NotEnabled) => {
            Err("this kernel has Landlock, but it is switched off (see the kernel's option lsm=)".to_owned())
        }
        (
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced,
            LandlockStatus::Available { effective_abi, .. },
        ) if status.no_new_privs => {
            let abi = abi.min(effective_abi);
            Ok(CoveredRights { truncation: abi >= ABI::V3, signals: abi >= ABI::V6 })
        }
        _ => Err("this kernel has no Landlock (needs Linux 5.13 or later)".to_owned()),
    }
}

fn allow_if_there(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Fault> {
    if path.metadata().is_ok() { allow(rules, path, access) } else { Ok(rules) }
}

fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, Fault> {
    let failed = format!("scripts could not be allowed to use {}", path.display());
    let access = if path.is_dir() { access } else { access & OF_FILES };
    let path = PathFd::new(path).map_err(doing(&failed))?;
    rules.add_rule(PathBeneath::new(path, access)).map_err(doing(&failed))
}
