//! Validates a script and turns it into an order for the supervisor.
//!
//! The only place where names of environment variables come from input: whatever the name of an argument, the
//! variable starts with `SKILL_ARG_`.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use crate::{
    Cwd, Error, Script,
    wire::{Mechanism, Order, Start},
};

/// Prefix of the variables of arguments.
const PREFIX: &str = "SKILL_ARG_";

/// Maximum size of an argument: Linux limits a `NAME=value` string to 131,072 bytes with its NUL, and all of them
/// to a quarter of the stack.
const MAX_ARGUMENT_BYTES: usize = 128 * 1024 - 256;

/// Maximum total size of all arguments.
const MAX_ARGUMENTS_BYTES: usize = 1024 * 1024;

/// Validates the script and creates the order.
pub(crate) fn order(script: &Script, mechanism: &Mechanism, base: &Path) -> Result<Order, Error> {
    if !script.files.iter().any(|(path, _)| *path == script.file) {
        return Err(invalid(format!("{} is not among the files of the skill", script.file)));
    }
    if !script.runner.first().is_some_and(|program| Path::new(program).is_absolute()) {
        return Err(invalid("the runner must be an absolute path"));
    }
    if script.runner.iter().any(|word| word.contains('\0')) || script.path.contains('\0') {
        return Err(invalid("the runner or its PATH contains a NUL character"));
    }
    script.readable.iter().try_for_each(|path| check_readable(path))?;
    script.workspace.iter().try_for_each(|workspace| check_workspace(&workspace.path, base))?;
    let length = |bytes: &Vec<u8>| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Ok(Order {
        mechanism: mechanism.clone(),
        base: base.to_owned(),
        files: script.files.iter().map(|(path, bytes)| (path.to_string(), length(bytes))).collect(),
        file: script.file.to_string(),
        runner: script.runner.clone(),
        start: start(script, mechanism)?,
        args: variables(&script.args)?,
        path: script.path.clone(),
        network: script.network,
        limits: script.limits.clone(),
        readable: script.readable.clone(),
        workspace: script.workspace.clone(),
    })
}

/// Environment variables of the arguments.
fn variables(args: &BTreeMap<String, String>) -> Result<Vec<(String, String)>, Error> {
    let mut variables = BTreeMap::new();
    let mut total = 0;
    for (name, value) in args {
        if name.is_empty() {
            return Err(invalid("an argument has no name"));
        }
        if name.contains('\0') || value.contains('\0') {
            return Err(invalid(format!(
                "the argument {name:?} has a NUL character, which no script can be given"
            )));
        }
        if name.len() + value.len() > MAX_ARGUMENT_BYTES {
            return Err(invalid(format!(
                "the argument {:?} is too long: at most {MAX_ARGUMENT_BYTES} bytes",
                short(name)
            )));
        }
        total += name.len() + value.len();
        let variable = variable(name);
        if variables.insert(variable.clone(), value.clone()).is_some() {
            return Err(invalid(format!("two arguments would both be {variable}; send one of them")));
        }
    }
    if total > MAX_ARGUMENTS_BYTES {
        return Err(invalid(format!(
            "the arguments are too long: at most {MAX_ARGUMENTS_BYTES} bytes together"
        )));
    }
    Ok(variables.into_iter().collect())
}

/// Variable name of an argument: characters that a shell doesn't allow in names become `_`.
fn variable(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    PREFIX.chars().chain(name.chars().map(letter)).collect()
}

fn start(script: &Script, mechanism: &Mechanism) -> Result<Start, Error> {
    match (&script.cwd, mechanism) {
        (Cwd::Skill, _) => Ok(Start::Skill),
        (Cwd::Below(folder), _) => {
            let exists = script.files.iter().any(|(path, _)| path.below(folder).is_some());
            let missing = || invalid(format!("the skill has no folder {folder} to start in"));
            exists.then(|| Start::Below(folder.to_string())).ok_or_else(missing)
        }
        (Cwd::Absolute(folder), Mechanism::None) => Ok(Start::Absolute(folder.clone())),
        (Cwd::Absolute(folder), _) if is_in_workspace(script, folder) => Ok(Start::Absolute(folder.clone())),
        (Cwd::Absolute(_), Mechanism::Standard { .. } | Mechanism::Strict { .. }) => Err(invalid(
            "a script starts in its skill's folder, below it, or in the workspace; make cwd relative to the skill's folder",
        )),
    }
}

fn is_in_workspace(script: &Script, folder: &Path) -> bool {
    let is_plain = folder.components().all(|part| !matches!(part, Component::ParentDir));
    is_plain && script.workspace.as_ref().is_some_and(|workspace| folder.starts_with(&workspace.path))
}

/// Rejects a workspace that contains the folders of runs: a script could write to those of others.
fn check_workspace(workspace: &Path, base: &Path) -> Result<(), Error> {
    let base = base.canonicalize().unwrap_or_else(|_| base.to_owned());
    if base.starts_with(workspace) {
        let text = workspace.display();
        return Err(invalid(format!(
            "{text} can't be the workspace of scripts: it contains the folder for temporary files; use a folder below it"
        )));
    }
    check_readable(workspace)
}

/// Rejects paths that would undermine the sandbox.
fn check_readable(path: &Path) -> Result<(), Error> {
    let plain = path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir));
    let whole =
        path.parent().is_none() || ["/proc", "/sys", "/dev"].iter().any(|root| path.starts_with(root));
    if !plain || whole {
        let text = path.display();
        return Err(invalid(format!(
            "{text} can't be readable for scripts: use an absolute path, but not /, /proc, /sys or /dev"
        )));
    }
    Ok(())
}

fn short(name: &str) -> String {
    name.chars().take(40).collect()
}

fn invalid(text: impl Into<String>) -> Error {
    Error::Invalid(text.into())
}
