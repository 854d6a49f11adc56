//! How `git` gets a token: it starts our own program again and asks.
//!
//! The token is in a file that exists in memory only and that `git` and its children inherit as an open descriptor.
//! The environment names the descriptor and the server that the token is for; the token itself stands neither in
//! the environment nor in an argument, a URL, a file on disk or the configuration.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::fd::{AsRawFd, OwnedFd},
    process::ExitCode,
};

use crate::{
    git::NOT_FOR_THIS_SERVER,
    repository::{Login, Origin},
};

/// The variable that makes our program answer `git` and do nothing else.
///
/// Its value is the first argument of [`askpass`].
pub const ASKPASS_VARIABLE: &str = "LYCEUM_ASKPASS";

/// Answers one question of `git`, which is the only argument that it starts the program with.
///
/// `errand` is the value of [`ASKPASS_VARIABLE`].
pub fn askpass(errand: &str, question: &str) -> ExitCode {
    let answer = respond(errand, question);
    match answer.and_then(|answer| io::stdout().write_all(format!("{answer}\n").as_bytes())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The text becomes a part of what git writes.
            let _nobody_listens = writeln!(io::stderr(), "lyceum: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Puts what `git` will ask for where its children can read it; returns the errand too.
pub(crate) fn prepare(login: &Login) -> io::Result<(OwnedFd, String)> {
    let file = memory_file()?;
    let mut file = File::from(file);
    write!(file, "{}\n{}", login.user, login.token.reveal())?;
    let file = OwnedFd::from(file);
    let errand = format!("{} {}", file.as_raw_fd(), login.origin);
    Ok((file, errand))
}

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn memory_file() -> io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("lyceum-token", MemfdFlags::CLOEXEC)?)
}

/// Elsewhere the nearest thing is a file without a name.
#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
fn memory_file() -> io::Result<OwnedFd> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "tokens need Linux; use a credential helper of git"))
}

fn respond(errand: &str, question: &str) -> io::Result<String> {
    let (descriptor, origin) =
        errand.split_once(' ').ok_or_else(|| invalid("the errand is not one of ours"))?;
    let descriptor: u32 = descriptor.parse().map_err(|_| invalid("the errand names no descriptor"))?;
    let origin = Origin::parse(origin).ok_or_else(|| invalid("the errand names no server"))?;
    let (what, asking) = read(question).ok_or_else(|| invalid("the question is not one of git"))?;
    if !origin.may_be_told_to(&asking) {
        return Err(invalid(&format!("{NOT_FOR_THIS_SERVER} {asking}")));
    }
    // Opened by its name the file is read from its start each time; a number can't be turned into a file safely.
    let held = fs::read_to_string(format!("/proc/self/fd/{descriptor}"))?;
    let (user, token) = held.split_once('\n').ok_or_else(|| invalid("the token is not there"))?;
    Ok(match what {
        PromptKind::User => user.to_owned(),
        PromptKind::Password => token.to_owned(),
    })
}

enum PromptKind {
    User,
    Password,
}

/// Reads `Username for 'https://example.org': ` and `Password for 'https://user@example.org': `.
fn read(question: &str) -> Option<(PromptKind, Origin)> {
    let (what, rest) = if let Some(rest) = question.strip_prefix("Username for '") {
        (PromptKind::User, rest)
    } else {
        (PromptKind::Password, question.strip_prefix("Password for '")?)
    };
    let (url, _) = rest.rsplit_once('\'')?;
    Some((what, Origin::parse(url)?))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests;
