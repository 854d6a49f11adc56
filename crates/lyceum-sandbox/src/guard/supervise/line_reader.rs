//! Lines from the confined child: a [`ChildMessage`], or a status of bubblewrap.

use std::{
    io::{self, Read as _, Write as _},
    os::unix::net::UnixStream,
};

use serde::Deserialize;

use crate::wire::ChildMessage;

/// Maximum length of a line.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Reads lines without blocking.
pub(super) struct LineReader {
    stream: UnixStream,
    unread: Vec<u8>,
    pub at_end: bool,
}

/// One line.
pub(super) enum Line {
    Message(ChildMessage),
    /// Bubblewrap has started its first process.
    FirstProcess,
    /// The script, which bubblewrap did start, has exited.
    ExitCode(u8),
}

/// Status of bubblewrap; other fields are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Status {
    child_pid: Option<i64>,
    exit_code: Option<u8>,
}

impl LineReader {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, unread: Vec::new(), at_end: false })
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Lets the child continue.
    pub(super) fn acknowledge(&mut self) -> io::Result<()> {
        self.stream.write_all(b"\n")
    }

    /// Returns the lines received since the last call.
    pub(super) fn read(&mut self) -> Vec<Line> {
        let mut buffer = [0; 4096];
        while !self.at_end {
            match self.stream.read(&mut buffer) {
                Ok(read @ 1..) if self.unread.len() < MAX_LINE_BYTES => {
                    self.unread.extend_from_slice(buffer.get(..read).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => self.at_end = true,
            }
        }
        let mut lines = Vec::new();
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            lines.extend(parse(&line));
        }
        lines
    }
}

fn parse(line: &[u8]) -> Option<Line> {
    if let Ok(message) = serde_json::from_slice(line) {
        return Some(Line::Message(message));
    }
    match serde_json::from_slice(line).ok()? {
        Status { exit_code: Some(code), .. } => Some(Line::ExitCode(code)),
        Status { child_pid: Some(_), .. } => Some(Line::FirstProcess),
        Status { .. } => None,
    }
}
