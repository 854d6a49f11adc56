//! A script to run, its limits, and how it ended.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use lyceum_model::RelPath;
use serde::{Deserialize, Serialize};

use crate::Level;

/// One run of one script.
#[derive(Debug, Clone)]
pub struct Script {
    /// The skill's folder; the script finds it as `SKILL_DIR` and can't change it.
    pub files: Vec<(RelPath, Vec<u8>)>,
    /// The script among the files.
    pub file: RelPath,
    /// The program that runs it, by its absolute path, and the arguments before the script's name.
    pub runner: Vec<String>,
    /// Where it starts.
    pub cwd: Cwd,
    /// What the caller says, by name. The script reads `dry-run` as `SKILL_ARG_DRY_RUN`.
    pub args: BTreeMap<String, String>,
    /// The script's `PATH`.
    pub path: String,
    /// What it may reach by IP. Never a UNIX socket.
    pub network: Network,
    /// What it may use up.
    pub limits: Limits,
    /// Files and folders outside of the skill that it may read and execute, besides the system's programs.
    pub readable: Vec<PathBuf>,
    /// A folder of the person's that it may work in; it finds it as `SKILL_WORKSPACE`.
    pub workspace: Option<Workspace>,
}

/// A folder outside of the skill that a script may work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The folder, by its absolute path without links.
    pub path: PathBuf,
    /// What may be done in it.
    pub access: WorkspaceAccess,
}

/// What may be done in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceAccess {
    /// Files are read.
    #[default]
    Read,
    /// Files are read, written, made and removed.
    Write,
}

/// What a script may reach by IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// Addresses of the public Internet by TCP and UDP, and the machine's name servers. No port is offered.
    Public,
    /// Every address, also of this machine and its network.
    Any,
}

/// Where a script starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cwd {
    /// The skill's folder.
    #[default]
    Skill,
    /// A folder of the skill.
    Below(RelPath),
    /// A folder of the workspace; anywhere only where nothing is held back.
    Absolute(PathBuf),
}

/// What a script may use up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How long it may take before it is asked to end.
    pub timeout: Duration,
    /// How long it may take to end after that, before it is killed.
    pub grace: Duration,
    /// How much of each stream is kept. What comes after is read and forgotten.
    pub output_bytes: usize,
    /// Memory that all of its processes really use together. It is looked at many times a second.
    pub memory_bytes: u64,
    /// Memory that one process may ask for, whether it uses it or not. Some runners ask for far more than they use:
    /// node with worker threads or WebAssembly, and so with `fetch`, needs 16 GiB here.
    pub address_bytes: u64,
    /// The size of one file.
    pub file_bytes: u64,
    /// All that is in the scratch folder.
    pub scratch_bytes: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Open files of one process.
    pub open_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            timeout: Duration::from_secs(60),
            grace: Duration::from_secs(5),
            output_bytes: 1024 * 1024,
            memory_bytes: 1024 * MIB,
            address_bytes: 1024 * MIB,
            file_bytes: 16 * MIB,
            scratch_bytes: 64 * MIB,
            processes: 64,
            open_files: 128,
        }
    }
}

/// How a script ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScriptOutcome {
    /// Its exit code; 128 and the signal's number if it was killed; 137 if it was stopped.
    pub exit_code: i32,
    /// What it wrote to standard output.
    pub stdout: Output,
    /// What it wrote to standard error.
    pub stderr: Output,
    /// From its start to the end of its last process.
    pub duration: Duration,
    /// Why it did not end by itself.
    pub stopped: Option<StopReason>,
    /// What held it back.
    pub level: Level,
    /// How its memory was limited.
    pub memory: MemoryLimit,
}

/// How the memory of all processes of a run together is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryLimit {
    /// By the kernel, in a control group of the run's own.
    Cgroup,
    /// By the supervisor, which adds up what they use some 20 times a second.
    Polling,
    /// Not at all: nothing holds the script back.
    None,
}

/// What was kept of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Output {
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Whether there was more.
    pub truncated: bool,
}

/// Why a script was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It took too long.
    Timeout,
    /// Its processes used too much memory together.
    Memory,
    /// It filled its scratch folder.
    Scratch,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "timeout exceeded",
            Self::Memory => "memory limit exceeded",
            Self::Scratch => "scratch folder full",
        })
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cgroup => "by a cgroup",
            Self::Polling => "by polling",
            Self::None => "not at all",
        })
    }
}
