//! Scripts, their limits and outcomes.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use lyceum_model::RelPath;
use serde::{Deserialize, Serialize};

use crate::Level;

/// A script to run.
#[derive(Debug, Clone)]
pub struct Script {
    /// Files of the skill's folder; available read-only as `SKILL_DIR`.
    pub files: Vec<(RelPath, Vec<u8>)>,
    /// Path of the script among the files.
    pub file: RelPath,
    /// Absolute path of the program that runs it, and the arguments before the script's name.
    pub runner: Vec<String>,
    /// Working directory.
    pub cwd: Cwd,
    /// Arguments by name. The script reads `dry-run` as `SKILL_ARG_DRY_RUN`.
    pub args: BTreeMap<String, String>,
    /// The script's `PATH`.
    pub path: String,
    /// Network access by IP. UNIX sockets are never allowed.
    pub network: Network,
    /// Resource limits.
    pub limits: Limits,
    /// Files and folders outside of the skill that it may read and execute, besides the system's programs.
    pub readable: Vec<PathBuf>,
    /// A folder of the user that it may work in; available as `SKILL_WORKSPACE`.
    pub workspace: Option<Workspace>,
}

/// A folder outside of the skill that a script may work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Absolute path of the folder, without symlinks.
    pub path: PathBuf,
    /// Allowed access.
    pub access: WorkspaceAccess,
}

/// Access to a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceAccess {
    /// Read only.
    #[default]
    Read,
    /// Read, write, create and delete.
    Write,
}

/// Network access of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// No network.
    #[default]
    None,
    /// Public addresses by TCP and UDP, and the machine's DNS servers. No listening.
    Public,
    /// Every address, including this machine and its network.
    Any,
}

/// Working directory of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cwd {
    /// The skill's folder.
    #[default]
    Skill,
    /// A folder of the skill.
    Below(RelPath),
    /// A folder of the workspace; any folder if there is no sandbox.
    Absolute(PathBuf),
}

/// Resource limits of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time until SIGTERM.
    pub timeout: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Maximum bytes captured of each stream. The rest is read and discarded.
    pub output_bytes: usize,
    /// Total memory of all its processes. Enforced by a cgroup or polled many times a second.
    pub memory_bytes: u64,
    /// Address space of one process. Some runners reserve far more than they use: node with worker threads or
    /// WebAssembly, and so with `fetch`, needs 16 GiB here.
    pub address_bytes: u64,
    /// Maximum file size.
    pub file_bytes: u64,
    /// Total size of the scratch folder.
    pub scratch_bytes: u64,
    /// Number of processes and threads.
    pub processes: u64,
    /// Open files per process.
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

/// Outcome of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScriptOutcome {
    /// Exit code; 128 plus the signal number if it was killed by a signal; 137 if it was stopped.
    pub exit_code: i32,
    /// Captured standard output.
    pub stdout: Output,
    /// Captured standard error.
    pub stderr: Output,
    /// Time from its start to the end of its last process.
    pub duration: Duration,
    /// Why it was stopped, if it was.
    pub stopped: Option<StopReason>,
    /// Sandbox level that was applied.
    pub level: Level,
    /// How its memory was limited.
    pub memory: MemoryLimit,
}

/// How the total memory of a run is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryLimit {
    /// By the kernel, in a cgroup per run.
    Cgroup,
    /// By the supervisor, which polls it about 20 times a second.
    Polling,
    /// Not at all: there is no sandbox.
    None,
}

/// Captured output of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Text; invalid UTF-8 is replaced.
    pub text: String,
    /// Whether the output was truncated.
    pub truncated: bool,
}

/// Why a script was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Timeout exceeded.
    Timeout,
    /// Memory limit exceeded.
    Memory,
    /// Scratch folder full.
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
