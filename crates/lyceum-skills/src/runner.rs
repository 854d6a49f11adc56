//! Resolves the runner of a script to a program.

use std::path::{Path, PathBuf};

use lyceum_model::ErrorCode;
use lyceum_tools::Error;

use crate::script::Request;

/// Resolves a runner such as `npx tsx` to the program's absolute path and its arguments.
pub(crate) fn command(request: &Request, search_path: &[PathBuf]) -> Result<Vec<String>, Error> {
    let words: Vec<&str> = request.runner.split_whitespace().collect();
    let (name, rest) = match words.split_first() {
        Some((&"npx", rest)) => of_npx(rest, search_path)?,
        Some((name, rest)) => (*name, rest),
        None => ("", words.as_slice()),
    };
    let program = find_program(name, search_path).ok_or_else(|| {
        unavailable(format!(
            "no runner: {name:?} is not on the server's PATH; install it, or name another in scripts.runners"
        ))
    })?;
    Ok(std::iter::once(program.display().to_string())
        .chain(rest.iter().map(|word| (*word).to_owned()))
        .collect())
}

/// `npx` downloads missing packages, which hangs in a script without network. So the package must be a program on the
/// `PATH`, which makes `npx` unnecessary.
fn of_npx<'a>(words: &'a [&'a str], search_path: &[PathBuf]) -> Result<(&'a str, &'a [&'a str]), Error> {
    let Some((package, rest)) = words.split_first().filter(|(word, _)| is_plain(word)) else {
        return Ok(("npx", words));
    };
    if find_program(package, search_path).is_some() {
        return Ok((package, rest));
    }
    Err(unavailable(format!(
        "no runner: `npx {package}` needs {package:?}, which is not installed, and nothing is fetched for a script; run \
         `npm install --global {package}` on the server, or name another runner in scripts.runners"
    )))
}

/// Whether a word is a plain program name, without npm options, version or scope.
fn is_plain(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphanumeric()) && !word.contains(['@', '/'])
}

fn unavailable(message: String) -> Error {
    Error::Failed { code: ErrorCode::Unavailable, message }
}

/// Finds a program like a shell does.
fn find_program(name: &str, search_path: &[PathBuf]) -> Option<PathBuf> {
    if Path::new(name).is_absolute() {
        return Some(PathBuf::from(name)).filter(|program| is_program(program));
    }
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let folders = search_path.iter().filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|program| is_program(program))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Library folders of a program outside the system paths: `~/.nvm/…/v24/bin/node` needs `~/.nvm/…/v24/lib`. Never more
/// of its installation, since a repository may name the program.
pub(crate) fn libraries_of(program: &Path) -> Vec<PathBuf> {
    let installed = program.canonicalize().ok();
    let home = installed
        .as_deref()
        .and_then(Path::parent)
        .filter(|folder| folder.ends_with("bin"))
        .and_then(Path::parent);
    let own = |home: &&Path| !["/", "/usr"].iter().any(|system| *home == Path::new(system));
    let folders = home.filter(own).map(|home| [home.join("lib"), home.join("lib64")]).into_iter().flatten();
    folders.filter(|folder| folder.is_dir()).collect()
}
