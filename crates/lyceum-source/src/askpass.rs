//! Hands a token to `git` by askpass: `git` starts this program again and prompts it.
//!
//! The token is in a memfd that `git` and its children inherit as an open file descriptor. The environment names the
//! descriptor and the server that the token is for. The token itself is never in the environment, an argument, a URL, a
//! file on disk or the Git configuration.

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

/// The environment variable that switches this program to askpass mode.
///
/// Its value is the first argument of [`askpass`].
pub const ASKPASS_VARIABLE: &str = "LYCEUM_ASKPASS";

/// Answers one prompt of `git`, which passes the prompt as the only argument.
///
/// `token_ref` is the value of [`ASKPASS_VARIABLE`].
pub fn askpass(token_ref: &str, prompt: &str) -> ExitCode {
    let answer = answer(token_ref, prompt);
    match answer.and_then(|answer| io::stdout().write_all(format!("{answer}\n").as_bytes())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Becomes part of git's stderr.
            let _closed = writeln!(io::stderr(), "lyceum: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes user and token to a memfd that `git`'s children inherit; returns it with the value of [`ASKPASS_VARIABLE`].
pub(crate) fn prepare(login: &Login) -> io::Result<(OwnedFd, String)> {
    let file = memory_file()?;
    let mut file = File::from(file);
    write!(file, "{}\n{}", login.user, login.token.reveal())?;
    let file = OwnedFd::from(file);
    let token_ref = format!("{} {}", file.as_raw_fd(), login.origin);
    Ok((file, token_ref))
}

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn memory_file() -> io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("lyceum-token", MemfdFlags::CLOEXEC)?)
}

/// Not supported on other systems.
#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
fn memory_file() -> io::Result<OwnedFd> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "tokens need Linux; use a credential helper of git"))
}

fn answer(token_ref: &str, prompt: &str) -> io::Result<String> {
    let (descriptor, origin) = token_ref.split_once(' ').ok_or_else(|| invalid("invalid token reference"))?;
    let descriptor: u32 =
        descriptor.parse().map_err(|_| invalid("the token reference has no file descriptor"))?;
    let origin = Origin::parse(origin).ok_or_else(|| invalid("the token reference has no server"))?;
    let (kind, requester) = parse_prompt(prompt).ok_or_else(|| invalid("unknown prompt"))?;
    if !origin.may_share_token_with(&requester) {
        return Err(invalid(&format!("{NOT_FOR_THIS_SERVER} {requester}")));
    }
    // Opening it by path reads from the start each time; turning a raw descriptor into a `File` needs `unsafe`.
    let content = fs::read_to_string(format!("/proc/self/fd/{descriptor}"))?;
    let (user, token) = content.split_once('\n').ok_or_else(|| invalid("the token is missing"))?;
    Ok(match kind {
        PromptKind::User => user.to_owned(),
        PromptKind::Password => token.to_owned(),
    })
}

enum PromptKind {
    User,
    Password,
}

/// Parses `Username for 'https://example.org': ` and `Password for 'https://user@example.org': `.
fn parse_prompt(prompt: &str) -> Option<(PromptKind, Origin)> {
    let (kind, rest) = if let Some(rest) = prompt.strip_prefix("Username for '") {
        (PromptKind::User, rest)
    } else {
        (PromptKind::Password, prompt.strip_prefix("Password for '")?)
    };
    let (url, _) = rest.rsplit_once('\'')?;
    Some((kind, Origin::parse(url)?))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests;
