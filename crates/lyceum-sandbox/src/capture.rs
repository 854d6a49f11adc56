//! Captures the start of a stream. Reads all of it, so that the writer never blocks.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::Output;

/// The start of a stream.
#[derive(Debug)]
pub(crate) struct Capture {
    bytes: Vec<u8>,
    max: usize,
    truncated: bool,
}

impl Capture {
    pub(crate) fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max, truncated: false }
    }

    /// Reads to the end. Cancel-safe: what was read so far is kept.
    pub(crate) async fn drain(&mut self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let new = buffer.get(..read).unwrap_or_default();
            let room = self.max - self.bytes.len();
            self.bytes.extend_from_slice(new.get(..room).unwrap_or(new));
            self.truncated |= read > room;
        }
    }

    /// Converts to text. A character cut in two by the limit is dropped.
    pub(crate) fn into_output(mut self) -> Output {
        if self.truncated
            && let Err(error) = std::str::from_utf8(&self.bytes)
            && error.error_len().is_none()
        {
            self.bytes.truncate(error.valid_up_to());
        }
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        Output { text, truncated: self.truncated }
    }
}
