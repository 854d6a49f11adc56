//! The helper processes: the supervisor of a run, the child that confines itself and starts the script, and the
//! connector of a script with public network access.
//!
//! Each is this program, executed again, with one thread, an empty environment and a socket as standard input. The
//! first message on the socket selects the role. Standard output and error belong to the script: nothing here
//! writes to them.

mod broker;
mod bubblewrap;
mod cgroup;
mod confine;
mod file_rights;
mod folder;
mod namespaces;
mod raw;
mod rlimits;
mod status;
mod supervise;
mod system_calls;
mod system_paths;
mod tree;
mod usage;
mod user;

use std::{
    fmt,
    io::{self, Write as _},
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::ExitCode,
    time::Duration,
};

use crate::wire::{Message, read_frame};

/// Timeout for the first message.
const ORDER_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a layer could not be applied. For the operator.
type Fault = String;

/// Runs as a helper. The program must call it before it starts a thread or reads anything, and exit with its code.
pub fn helper_main() -> ExitCode {
    match first_message() {
        Ok((control, Message::Supervise(order))) => supervise::main(control, *order),
        Ok((control, Message::Confine(confinement))) => confine::main(control, &confinement),
        Ok((_, Message::Connect)) => broker::connector_main(),
        Err(error) => {
            let _nobody_reads =
                writeln!(io::stderr(), "this command is for internal use by the server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn first_message() -> io::Result<(UnixStream, Message)> {
    // Descriptors that the server leaked must not reach the script.
    raw::close_others_on_exec()?;
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    control.set_read_timeout(Some(ORDER_TIMEOUT))?;
    control.set_write_timeout(Some(ORDER_TIMEOUT))?;
    let message = read_frame(&mut control)?;
    Ok((control, message))
}

/// Adds context to an error.
fn context<E: fmt::Display>(what: &str) -> impl Fn(E) -> Fault {
    move |error| format!("{what}: {error}")
}
