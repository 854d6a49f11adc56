//! What is kept of a stream: all is read, so that the writer never waits, but only the beginning is kept.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::Output;

/// The beginning of a stream.
#[derive(Debug)]
pub(crate) struct Capture {
    kept: Vec<u8>,
    most: usize,
    truncated: bool,
}

impl Capture {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Vec::new(), most, truncated: false }
    }

    /// Reads to the end. Dropping it half-way loses nothing that was read.
    pub(crate) async fn drain(&mut self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let new = buffer.get(..read).unwrap_or_default();
            let room = self.most - self.kept.len();
            self.kept.extend_from_slice(new.get(..room).unwrap_or(new));
            self.truncated |= read > room;
        }
    }

    /// As text. A character that the end of the room cut in two is left away.
    pub(crate) fn into_output(mut self) -> Output {
        if self.truncated
            && let Err(error) = std::str::from_utf8(&self.kept)
            && error.error_len().is_none()
        {
            self.kept.truncate(error.valid_up_to());
        }
        let text = String::from_utf8_lossy(&self.kept).into_owned();
        Output { text, truncated: self.truncated }
    }
}
