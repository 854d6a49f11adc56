//! The seccomp filter: denies what no script needs, and what Landlock and namespaces leave open.
//!
//! It is a denylist, because runners differ and evolve. System calls newer than this list fail with `ENOSYS`, so
//! that new kernels can't open a gap.

mod lists;

use std::collections::BTreeMap;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use self::lists::{
    ALWAYS_DENIED, ALWAYS_DENIED_ARCH, LISTENING, METADATA, METADATA_ARCH, NAMESPACES, ROUTING_OPTIONS,
    SIGNALS,
};
use super::{Fault, context};
use crate::Network;

/// Parts of the filter that depend on the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Allowed IP sockets.
    pub network: Network,
    /// The script runs as the server's user and sees its files: deny changes of mode, owner and times.
    pub guard_metadata: bool,
    /// Nothing else prevents truncation of files by path.
    pub guard_truncation: bool,
    /// Nothing else prevents signals to the server.
    pub guard_signals: bool,
}

/// The newest system call that this list covers: `mseal`, of Linux 6.10. From 424 on, the numbers are the same on
/// all architectures.
const LAST_KNOWN_CALL: u32 = 462;

/// The low bits of a socket's type are the type; flags are above them.
const SOCKET_TYPE_MASK: u64 = 0xf;

/// Installs the filter for this process and its descendants, permanently.
pub(super) fn restrict(plan: Plan) -> Result<(), Fault> {
    seccompiler::apply_filter(&program(plan)?).map_err(context("could not install the seccomp filter"))
}

/// Compiles the filter to BPF.
pub(super) fn program(plan: Plan) -> Result<BpfProgram, Fault> {
    let failed = "could not build the seccomp filter";
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(context(failed))?;
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter =
        SeccompFilter::new(rules(plan).map_err(context(failed))?, SeccompAction::Allow, denied, architecture)
            .map_err(context(failed))?;
    let mut program = unknown_calls().to_vec();
    program.extend(BpfProgram::try_from(filter).map_err(context(failed))?);
    Ok(program)
}

/// First instructions of the program: return `ENOSYS` for unknown calls, for `clone3`, whose flags a filter can't
/// read, and for the x32 ABI, whose numbers have a high bit set. The C library then falls back to `clone`.
fn unknown_calls() -> [sock_filter; 5] {
    const LOAD: u16 = 0x20;
    const JUMP: u16 = 0x05;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const JUMP_IF_GREATER: u16 = 0x25;
    const RETURN: u16 = 0x06;
    const CLONE3: u32 = 435;
    let line = |code, jt, k| sock_filter { code, jt, jf: 0, k };
    [
        line(LOAD, 0, 0),
        line(JUMP_IF_GREATER, 2, LAST_KNOWN_CALL),
        line(JUMP_IF_EQUAL, 1, CLONE3),
        line(JUMP, 0, 1),
        line(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
    ]
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Denied calls. A call without conditions is denied whatever its arguments.
fn rules(plan: Plan) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let mut deny = |calls: &[c_long]| rules.extend(calls.iter().map(|call| (*call, Vec::new())));
    deny(ALWAYS_DENIED);
    deny(ALWAYS_DENIED_ARCH);
    if plan.guard_metadata {
        deny(METADATA);
        deny(METADATA_ARCH);
    }
    if plan.guard_truncation {
        deny(&[libc::SYS_truncate]);
    }
    if plan.guard_signals {
        deny(SIGNALS);
    }
    match plan.network {
        Network::None => deny(&[libc::SYS_socket]),
        Network::Public => deny(LISTENING),
        Network::Any => {}
    }
    let mut deny_if =
        |call: c_long, conditions: &[SeccompCondition]| -> Result<(), seccompiler::BackendError> {
            rules.entry(call).or_default().push(SeccompRule::new(conditions.to_vec())?);
            Ok(())
        };

    for flag in NAMESPACES {
        deny_if(libc::SYS_clone, &[has(0, flag.unsigned_abs().into())?])?;
    }
    // Another personality would disable ASLR; querying the current one is common.
    deny_if(libc::SYS_personality, &[not(0, 0)?, not(0, u32::MAX.into())?])?;
    // Injecting terminal input.
    deny_if(libc::SYS_ioctl, &[is(1, TIOCSTI)?])?;
    deny_if(libc::SYS_ioctl, &[is(1, TIOCLINUX)?])?;
    // Limits and priorities of other processes of the same user.
    deny_if(libc::SYS_prlimit64, &[not(0, 0)?])?;
    for call in [
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ] {
        deny_if(call, &[not(0, 0)?])?;
    }
    deny_if(libc::SYS_setpriority, &[not(0, 0)?])?;
    deny_if(libc::SYS_setpriority, &[not(1, 0)?])?;
    if plan.guard_metadata {
        // Without a path it applies to an open file.
        deny_if(libc::SYS_utimensat, &[not_null(1)?])?;
    }
    if plan.guard_signals {
        for command in [libc::F_SETOWN, F_SETOWN_EX, F_SETSIG] {
            deny_if(libc::SYS_fcntl, &[is(1, command.unsigned_abs().into())?])?;
        }
        for request in [FIOSETOWN, SIOCSPGRP] {
            deny_if(libc::SYS_ioctl, &[is(1, request)?])?;
        }
    }
    sockets(plan, &mut deny_if)?;
    Ok(rules)
}

const SOCK_PACKET: c_int = 10;
const F_SETOWN_EX: c_int = 15;
const F_SETSIG: c_int = 10;
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;
const MSG_FASTOPEN: u64 = 0x2000_0000;

/// Sockets: connected pairs for a process and its children, and TCP and UDP for scripts with network access.
///
/// Pairs of datagram sockets are denied: each end can still send to any address, such as that of a system service.
fn sockets<E>(
    plan: Plan,
    deny_if: &mut impl FnMut(c_long, &[SeccompCondition]) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<seccompiler::BackendError>,
{
    let number = |number: c_int| u64::from(number.unsigned_abs());
    deny_if(libc::SYS_socketpair, &[not(0, number(libc::AF_UNIX))?])?;
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        deny_if(libc::SYS_socketpair, &[masked(1, SOCKET_TYPE_MASK, number(kind))?])?;
    }
    if plan.network == Network::Public {
        addresses(deny_if)?;
    }
    if plan.network != Network::None {
        deny_if(libc::SYS_socket, &[not(0, number(libc::AF_INET))?, not(0, number(libc::AF_INET6))?])?;
        for kind in [libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, libc::SOCK_DCCP, SOCK_PACKET] {
            deny_if(libc::SYS_socket, &[masked(1, SOCKET_TYPE_MASK, number(kind))?])?;
        }
        let protocols = [not(2, 0)?, not(2, number(libc::IPPROTO_TCP))?, not(2, number(libc::IPPROTO_UDP))?];
        deny_if(libc::SYS_socket, &protocols)?;
    }
    Ok(())
}

/// Denies all ways to name an address but `connect` and `sendmsg`, which are intercepted.
fn addresses<E>(deny_if: &mut impl FnMut(c_long, &[SeccompCondition]) -> Result<(), E>) -> Result<(), E>
where
    E: From<seccompiler::BackendError>,
{
    deny_if(libc::SYS_sendto, &[not_null(4)?])?;
    deny_if(libc::SYS_sendto, &[has(3, MSG_FASTOPEN)?])?;
    for (level, option) in ROUTING_OPTIONS {
        let number = |number: c_int| u64::from(number.unsigned_abs());
        deny_if(libc::SYS_setsockopt, &[is(1, number(*level))?, is(2, number(*option))?])?;
    }
    Ok(())
}

/// The kernel reads these arguments as 32 bits and ignores the upper ones.
fn condition(
    argument: u8,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value)
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    condition(argument, SeccompCmpOp::Ne, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    condition(argument, SeccompCmpOp::MaskedEq(mask), value)
}

fn has(argument: u8, bit: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    masked(argument, bit, bit)
}

fn not_null(argument: u8) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}
