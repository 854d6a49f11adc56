//! The filter of system calls: what a script has no business with, and what Landlock and namespaces leave open.
//!
//! It names what is denied, because runners differ and grow. What the kernel learned after this list was last looked
//! at does not exist for scripts, so that the list can't be outrun.

mod lists;

use std::collections::BTreeMap;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use self::lists::{METADATA, METADATA_HERE, NAMESPACES, NEVER, NEVER_HERE, OFFERS, ROUTES, SIGNALS};
use super::{Fault, doing};
use crate::Network;

/// What of the list depends on the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Which IP sockets are allowed.
    pub network: Network,
    /// The script runs as the server's user and sees the server's files: their mode, owner and times must stay.
    pub guard_metadata: bool,
    /// Nothing else keeps files from being shortened by their path.
    pub guard_truncation: bool,
    /// Nothing else keeps signals from the server.
    pub guard_signals: bool,
}

/// The last system call that this list was made for: `mseal`, of Linux 6.10. From 424 on the numbers are the same for
/// every processor.
const LAST: u32 = 462;

/// The low bits of a socket's type are the type; flags stand above them.
const SOCKET_TYPE: u64 = 0xf;

/// Puts the filter on this process and all that it starts, for ever.
pub(super) fn restrict(plan: Plan) -> Result<(), Fault> {
    seccompiler::apply_filter(&program(plan)?)
        .map_err(doing("the filter of system calls could not be put on"))
}

/// The filter as a program for the kernel.
pub(super) fn program(plan: Plan) -> Result<BpfProgram, Fault> {
    let failed = "the filter of system calls could not be made";
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(doing(failed))?;
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter =
        SeccompFilter::new(rules(plan).map_err(doing(failed))?, SeccompAction::Allow, denied, architecture)
            .map_err(doing(failed))?;
    let mut program = unknown_calls().to_vec();
    program.extend(BpfProgram::try_from(filter).map_err(doing(failed))?);
    Ok(program)
}

/// The beginning of the program: calls that did not exist yet, `clone3`, whose flags no filter can see, and the calls
/// of the second 64-bit interface of Intel's processors, whose numbers are above a bit of their own, do not exist.
/// The C library then takes `clone`.
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
        line(JUMP_IF_GREATER, 2, LAST),
        line(JUMP_IF_EQUAL, 1, CLONE3),
        line(JUMP, 0, 1),
        line(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
    ]
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What is denied. A system call without a rule of its own is denied whatever its arguments are.
fn rules(plan: Plan) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let mut deny = |calls: &[c_long]| rules.extend(calls.iter().map(|call| (*call, Vec::new())));
    deny(NEVER);
    deny(NEVER_HERE);
    if plan.guard_metadata {
        deny(METADATA);
        deny(METADATA_HERE);
    }
    if plan.guard_truncation {
        deny(&[libc::SYS_truncate]);
    }
    if plan.guard_signals {
        deny(SIGNALS);
    }
    match plan.network {
        Network::None => deny(&[libc::SYS_socket]),
        Network::Public => deny(OFFERS),
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
    // Another personality switches off the random layout of memory; asking for the own one is common.
    deny_if(libc::SYS_personality, &[not(0, 0)?, not(0, u32::MAX.into())?])?;
    // Typing into a terminal.
    deny_if(libc::SYS_ioctl, &[is(1, TIOCSTI)?])?;
    deny_if(libc::SYS_ioctl, &[is(1, TIOCLINUX)?])?;
    // Limits and priorities of others, which the same user may change.
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
        // Without a path it is about an open file.
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

/// Sockets: a connected pair for a process and its children, and TCP and UDP for scripts with a network.
///
/// A pair of datagram sockets is no pair: each can still send to any address, such as that of a system service.
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
        deny_if(libc::SYS_socketpair, &[masked(1, SOCKET_TYPE, number(kind))?])?;
    }
    if plan.network == Network::Public {
        addresses(deny_if)?;
    }
    if plan.network != Network::None {
        deny_if(libc::SYS_socket, &[not(0, number(libc::AF_INET))?, not(0, number(libc::AF_INET6))?])?;
        for kind in [libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, libc::SOCK_DCCP, SOCK_PACKET] {
            deny_if(libc::SYS_socket, &[masked(1, SOCKET_TYPE, number(kind))?])?;
        }
        let protocols = [not(2, 0)?, not(2, number(libc::IPPROTO_TCP))?, not(2, number(libc::IPPROTO_UDP))?];
        deny_if(libc::SYS_socket, &protocols)?;
    }
    Ok(())
}

/// What names an address beside `connect` and `sendmsg`, which the supervisor does for the script.
fn addresses<E>(deny_if: &mut impl FnMut(c_long, &[SeccompCondition]) -> Result<(), E>) -> Result<(), E>
where
    E: From<seccompiler::BackendError>,
{
    deny_if(libc::SYS_sendto, &[not_null(4)?])?;
    deny_if(libc::SYS_sendto, &[has(3, MSG_FASTOPEN)?])?;
    for (level, option) in ROUTES {
        let number = |number: c_int| u64::from(number.unsigned_abs());
        deny_if(libc::SYS_setsockopt, &[is(1, number(*level))?, is(2, number(*option))?])?;
    }
    Ok(())
}

/// The kernel reads these arguments as 32 bits, whatever stands above them.
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
