//! Landlock: which files a script may access; no ports, abstract sockets or signals outside.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope, make_bitflags,
};

use super::{Fault, context, system_paths};
use crate::{
    Network, Workspace, WorkspaceAccess,
    wire::{Confinement, Rights},
};

/// Optional rights that the kernel supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CoveredRights {
    /// Truncating files by path, since Linux 6.2.
    pub truncation: bool,
    /// Signals to processes outside, since Linux 6.12.
    pub signals: bool,
}

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});

const READ_WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile});

const FULL: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    Execute | ReadFile | ReadDir | WriteFile | Truncate | Refer
    | MakeReg | MakeDir | MakeSym | MakeFifo | RemoveFile | RemoveDir
});

/// Rights that apply to files, not folders.
const FILE_RIGHTS: BitFlags<AccessFs> = make_bitflags!(AccessFs::{Execute | ReadFile | WriteFile | Truncate});

/// Restricts this process and its descendants, permanently.
pub(super) fn restrict(confinement: &Confinement, rights: Rights) -> Result<CoveredRights, Fault> {
    let failed = "could not apply Landlock";
    let abi = match rights {
        Rights::Best => ABI::V9,
        Rights::First => ABI::V1,
    };
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(abi)).map_err(context(failed))?;
    if rights == Rights::Best {
        // With network `any`, scripts may connect to any port but bind none. With `public`, the connector connects
        // for them.
        let ports = match confinement.network {
            Network::Any => AccessNet::BindTcp.into(),
            Network::None | Network::Public => AccessNet::from_all(abi),
        };
        rules = rules.handle_access(ports).map_err(context(failed))?;
        rules = rules.scope(Scope::from_all(abi)).map_err(context(failed))?;
    }
    let mut rules = rules.create().map_err(context(failed))?;
    rules = allow(rules, &confinement.skill, READ)?;
    // A rule must not grant a right that this ABI doesn't handle.
    rules = allow(rules, &confinement.scratch, FULL & AccessFs::from_all(abi))?;
    for path in system_paths::PROGRAMS.iter().chain(system_paths::SETTINGS) {
        rules = allow_if_exists(rules, path.as_ref(), READ)?;
    }
    for path in system_paths::DEVICES {
        rules = allow_if_exists(rules, path.as_ref(), READ_WRITE)?;
    }
    for path in confinement.readable.iter().chain([&confinement.program]) {
        rules = allow_if_exists(rules, path, READ)?;
    }
    if let Some(Workspace { path, access }) = &confinement.workspace {
        let rights = match access {
            WorkspaceAccess::Read => READ,
            WorkspaceAccess::Write => FULL & AccessFs::from_all(abi),
        };
        rules = allow(rules, path, rights)?;
    }
    if confinement.network != Network::None {
        for path in system_paths::NETWORK_SETTINGS {
            rules = allow_if_exists(rules, path.as_ref(), READ)?;
        }
    }
    let status = rules.restrict_self().map_err(context(failed))?;
    match (status.ruleset, status.landlock) {
        (_, LandlockStatus::NotEnabled) => {
            Err("this kernel has Landlock, but it is disabled (see the kernel's boot option lsm=)".to_owned())
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

fn allow_if_exists(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Fault> {
    if path.metadata().is_ok() { allow(rules, path, access) } else { Ok(rules) }
}

fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, Fault> {
    let failed = format!("could not allow scripts to access {}", path.display());
    let access = if path.is_dir() { access } else { access & FILE_RIGHTS };
    let path = PathFd::new(path).map_err(context(&failed))?;
    rules.add_rule(PathBeneath::new(path, access)).map_err(context(&failed))
}
