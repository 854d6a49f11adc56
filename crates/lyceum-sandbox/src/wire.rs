//! Wire format between the server, the supervisor and the confined child.
//!
//! A frame is a 4-byte little-endian length and JSON. The bytes of the files follow an [`Order`].

use std::{
    fmt,
    io::{self, Read},
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Level, Limits, MemoryLimit, Network, StopReason, Workspace};

/// Maximum size of a message.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// The first message to a helper process: its role.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The supervisor of a run.
    Supervise(Box<Order>),
    /// The child that confines itself and starts the script.
    Confine(Box<Confinement>),
    /// The connector of a script.
    Connect,
}

/// A run, as ordered by the server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub mechanism: Mechanism,
    /// Base folder of the folder of the run.
    pub base: PathBuf,
    /// Path and length of each file.
    pub files: Vec<(String, u64)>,
    pub file: String,
    pub runner: Vec<String>,
    pub start: Start,
    pub args: Vec<(String, String)>,
    pub path: String,
    pub network: Network,
    pub limits: Limits,
    pub readable: Vec<PathBuf>,
    pub workspace: Option<Workspace>,
}

/// Working directory; `Below` and `Skill` are in the skill's folder.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Start {
    Skill,
    Below(String),
    Absolute(PathBuf),
}

/// How a script is confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mechanism {
    /// Not at all.
    None,
    /// By kernel mechanisms.
    Standard { namespaces: bool, rights: Rights },
    /// By bubblewrap at this path.
    Strict { bwrap: PathBuf },
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Standard { namespaces: true, .. } => "Landlock, seccomp and namespaces",
            Self::Standard { namespaces: false, .. } => "Landlock and seccomp",
            Self::Strict { .. } => "bubblewrap",
        })
    }
}

/// Landlock rights to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Rights {
    /// All that the kernel supports.
    Best,
    /// Those of the first kernel with Landlock, for tests.
    First,
}

/// A run, as needed by the confined child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub mechanism: Mechanism,
    pub user: User,
    pub skill: PathBuf,
    pub scratch: PathBuf,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub network: Network,
    pub limits: Limits,
    pub readable: Vec<PathBuf>,
    pub workspace: Option<Workspace>,
}

/// User of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum User {
    /// The server's user.
    Same,
    /// This uid and gid; exclusive to the run, unless it is `nobody`.
    Other(u32),
}

/// Messages from the confined child to the supervisor, one JSON line each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ChildMessage {
    /// The seccomp listener has this descriptor number; the supervisor takes it and responds with one byte.
    Listening(i32),
    Started,
    /// The network can't be restricted as required.
    NoNetwork(String),
    Refused(String),
    NotStarted(String),
}

/// Final report of the supervisor to the server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    Finished { exit_code: i32, stopped: Option<StopReason>, duration: Duration, memory: MemoryLimit },
    Refused(String),
    NoNetwork(String),
    NotStarted(String),
}

impl Mechanism {
    pub(crate) fn level(&self) -> Level {
        match self {
            Self::None => Level::None,
            Self::Standard { .. } => Level::Standard,
            Self::Strict { .. } => Level::Strict,
        }
    }
}

/// Serializes a message to a frame.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = length(bytes.len() - 4)?;
    for (target, byte) in bytes.iter_mut().zip(length.to_le_bytes()) {
        *target = byte;
    }
    Ok(bytes)
}

/// Reads a frame.
pub(crate) fn read_frame<T: DeserializeOwned>(reader: &mut impl Read) -> io::Result<T> {
    let mut head = [0; 4];
    reader.read_exact(&mut head)?;
    let mut body = vec![0; body_length(head)?];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// Parses the length of a frame.
pub(crate) fn body_length(head: [u8; 4]) -> io::Result<usize> {
    let length = usize::try_from(u32::from_le_bytes(head)).map_err(io::Error::other)?;
    self::length(length)?;
    Ok(length)
}

fn length(length: usize) -> io::Result<u32> {
    if length > MAX_MESSAGE_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the message is too long"));
    }
    u32::try_from(length).map_err(io::Error::other)
}
