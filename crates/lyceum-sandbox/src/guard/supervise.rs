//! The supervisor of a run. It is not confined, and the script can't reach it.
//!
//! It creates the folder and namespaces of the run, starts the confined child, and kills every process of the run:
//! when the script has exited, exceeds a limit, or the server closes the control socket.

mod line_reader;
mod monitor;

use std::{
    env, io,
    os::{
        fd::OwnedFd,
        unix::{fs::fchown, net::UnixStream},
    },
    path::PathBuf,
    process::{Command, ExitCode},
    time::Duration,
};

use io::Write as _;
use rustix::process::{Pid, getpid, set_child_subreaper};

use super::{
    Fault, ORDER_TIMEOUT,
    broker::Connector,
    cgroup::Group,
    context,
    folder::RunFolder,
    namespaces::{self, Scratch},
    tree,
    usage::Usage,
    user,
};
use crate::wire::{Confinement, Mechanism, Message, Order, Report, Start, User, frame};
use crate::{MemoryLimit, Network};
use line_reader::LineReader;
use monitor::{Outcome, RunMonitor};

/// Timeout for killing all processes.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// Supervises a run and reports its outcome.
pub(super) fn main(mut control: UnixStream, order: Order) -> ExitCode {
    let report = supervise(&mut control, order).unwrap_or_else(Report::Refused);
    let _server_gone = frame(&report).and_then(|bytes| control.write_all(&bytes));
    ExitCode::SUCCESS
}

fn supervise(control: &mut UnixStream, order: Order) -> Result<Report, Fault> {
    set_child_subreaper(Some(getpid()))
        .map_err(context("could not become the subreaper of the script's processes"))?;
    if !tree::is_supported() {
        return Err("/proc does not list the children of a process (mount /proc; the kernel needs CONFIG_PROC_CHILDREN)"
            .to_owned());
    }
    let user = user::choose(&order.mechanism)?;
    let mut folder = RunFolder::create(&order.base, user)?;
    let group = (order.mechanism != Mechanism::None).then(|| Group::create(&order.limits)).flatten();
    let memory = match (&order.mechanism, &group) {
        (Mechanism::None, _) => MemoryLimit::None,
        (_, Some(_)) => MemoryLimit::Cgroup,
        (_, None) => MemoryLimit::Polling,
    };
    let outcome = run(control, order, &mut folder, Containment { user, group: group.as_ref(), memory });
    // In any case, no process of the run may outlive it.
    if !tree::kill_all(KILL_TIMEOUT) {
        // A surviving process could interfere with the removal.
        folder.keep();
        return Err("some processes of the script could not be killed".to_owned());
    }
    drop((folder, group));
    Ok(match outcome? {
        Outcome::Refused(reason) => Report::Refused(reason),
        Outcome::NoNetwork(reason) => Report::NoNetwork(reason),
        Outcome::NotStarted(reason) => Report::NotStarted(reason),
        Outcome::Abandoned => Report::Refused("the server closed the connection".to_owned()),
        Outcome::Ended { code, stopped, since } => {
            Report::Finished { exit_code: code.into(), stopped, duration: since.elapsed(), memory }
        }
    })
}

/// User of a run, and how its memory is limited.
#[derive(Clone, Copy)]
struct Containment<'a> {
    user: User,
    group: Option<&'a Group>,
    memory: MemoryLimit,
}

/// Starts the run and monitors it. Some of its processes may still exist afterwards.
fn run(
    control: &mut UnixStream,
    order: Order,
    folder: &mut RunFolder,
    containment: Containment<'_>,
) -> Result<Outcome, Fault> {
    let Containment { user, group, memory } = containment;
    folder.write(&order.files, control)?;
    if let User::Other(id) = user {
        give_streams_to(id).map_err(context("could not hand stdout and stderr to the script's user"))?;
    }
    // Before entering the namespaces: the connector must not be visible to the script.
    let brokered = order.network == Network::Public && order.mechanism != Mechanism::None;
    let connector =
        brokered.then(Connector::start).transpose().map_err(context("could not start a helper process"))?;
    if let Mechanism::Standard { namespaces: true, .. } = order.mechanism {
        let scratch = Scratch { path: &folder.scratch, bytes: order.limits.scratch_bytes, user };
        namespaces::enter(order.network, &scratch, order.workspace.as_ref())?;
        folder.has_mount = true;
    }
    let usage = Usage::of(&order.mechanism, &folder.scratch, &order.limits, memory);
    let (limits, level) = (order.limits.clone(), order.mechanism.level());
    let (root, messages) = start(confinement(order, folder, user), group)
        .map_err(context("could not start a helper process"))?;
    RunMonitor { control, messages, root, level, limits: &limits, usage, group, connector, broker: None }
        .run()
}

/// Lets the script open `/dev/stdout` and `/dev/stderr`, as some do.
fn give_streams_to(id: u32) -> io::Result<()> {
    fchown(io::stdout(), Some(id), Some(id))?;
    fchown(io::stderr(), Some(id), Some(id))
}

fn confinement(order: Order, folder: &RunFolder, user: User) -> Confinement {
    let cwd = match &order.start {
        Start::Skill => folder.skill.clone(),
        Start::Below(path) => folder.skill.join(path),
        Start::Absolute(path) => path.clone(),
    };
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let own = [
        ("PATH", order.path),
        ("HOME", text(&folder.scratch)),
        ("TMPDIR", text(&folder.scratch)),
        ("SKILL_DIR", text(&folder.skill)),
        ("LANG", "C.UTF-8".to_owned()),
    ];
    // Resolvers would send the A and AAAA queries in one `sendmmsg`, which is denied.
    let workspace =
        order.workspace.as_ref().map(|workspace| ("SKILL_WORKSPACE".to_owned(), text(&workspace.path)));
    let resolving =
        (order.network == Network::Public).then(|| ("RES_OPTIONS".to_owned(), "single-request".to_owned()));
    let mut words = order.runner.into_iter();
    let program = PathBuf::from(words.next().unwrap_or_default());
    let args = words.chain([text(&folder.skill.join(&order.file))]).collect();
    Confinement {
        mechanism: order.mechanism,
        user,
        skill: folder.skill.clone(),
        scratch: folder.scratch.clone(),
        program,
        args,
        cwd,
        env: order
            .args
            .into_iter()
            .chain(own.map(|(name, value)| (name.to_owned(), value)))
            .chain(resolving)
            .chain(workspace)
            .collect(),
        network: order.network,
        limits: order.limits,
        readable: order.readable,
        workspace: order.workspace,
    }
}

/// Starts the confined child: this program, executed again. It does nothing before it gets its message, so that
/// all processes it starts are in the cgroup.
fn start(confinement: Confinement, group: Option<&Group>) -> io::Result<(Pid, LineReader)> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let child = Command::new("/proc/self/exe")
        .args(env::args_os().skip(1))
        .env_clear()
        .stdin(OwnedFd::from(theirs))
        .spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the child has no pid"))?;
    group.map_or(Ok(()), |group| group.add_process(pid))?;
    ours.set_write_timeout(Some(ORDER_TIMEOUT))?;
    ours.write_all(&frame(&Message::Confine(Box::new(confinement)))?)?;
    Ok((pid, LineReader::new(ours)?))
}
