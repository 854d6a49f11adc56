//! What the server, the supervisor and the confined process say to each other.
//!
//! A message is its length as four bytes, little end first, and JSON. After an [`Order`] come the bytes of its files.

use std::{
    io::{self, Read},
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Level, Limits, MemoryLimit, Network, StopReason, Workspace};

/// The longest message, in bytes.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// What a helper process is asked to be; the first message that it gets.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The supervisor of a run.
    Supervise(Box<Order>),
    /// The process that confines itself and then starts the script.
    Confine(Box<Confinement>),
    /// The process that connects for the script.
    Connect,
}

/// One run, as the server wants it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub means: Mechanism,
    /// Where the folder of the run is made.
    pub base: PathBuf,
    /// The path of each file and its length.
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

/// Where the script starts; `Below` and `Skill` are in its folder.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Start {
    Skill,
    Below(String),
    Absolute(PathBuf),
}

/// By what a script is held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mechanism {
    /// By nothing.
    None,
    /// By the kernel's own means.
    Standard { namespaces: bool, rights: Rights },
    /// By that bubblewrap.
    Strict { bwrap: PathBuf },
}

/// Which rights of Landlock are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Rights {
    /// All that the kernel knows.
    Best,
    /// Those of the first kernel that had Landlock: for tests of what holds there.
    First,
}

/// One run, as the confined process needs it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub means: Mechanism,
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

/// As whom the script runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum User {
    /// As the server itself.
    Same,
    /// As this user and this group, which nothing else runs as if they are of one run only.
    Other(u32),
}

/// What the confined process tells its supervisor, a line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ChildMessage {
    /// Its descriptor of this number is for the supervisor to take, which answers with one byte.
    Listening(i32),
    Started,
    /// The network can't be limited as it has to be.
    NoNetwork(String),
    Refused(String),
    NotStarted(String),
}

/// What the supervisor tells the server at the end.
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

/// A message as bytes.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = length(bytes.len() - 4)?;
    for (place, byte) in bytes.iter_mut().zip(length.to_le_bytes()) {
        *place = byte;
    }
    Ok(bytes)
}

/// Reads one message.
pub(crate) fn read_frame<T: DeserializeOwned>(reader: &mut impl Read) -> io::Result<T> {
    let mut head = [0; 4];
    reader.read_exact(&mut head)?;
    let mut body = vec![0; body_length(head)?];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// The length that the head of a message says.
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
