//! Where log lines go: into a buffer that a thread writes to stderr many times a second.
//!
//! A system call for each line would be a good part of the cost of a fast request. A warning or a fault is written
//! at once with all that waits before it, and so is everything when the process ends in good order.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How long a line may wait.
const WAIT: Duration = Duration::from_millis(20);

/// How much may wait; past that, whoever writes the next line writes it all.
const MOST_BYTES: usize = 256 * 1024;

/// Log lines on their way to stderr. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct LogWriter(Arc<Buffers>);

#[derive(Debug, Default)]
struct Buffers {
    waiting: Mutex<Vec<u8>>,
    /// Held while stderr is written to, so that lines keep their order and nobody waits for it to add one.
    writing: Mutex<Vec<u8>>,
}

impl LogWriter {
    /// Starts the thread that writes for as long as the process lives.
    pub(super) fn start() -> io::Result<Self> {
        let writer = Self::default();
        let writing = writer.clone();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(WAIT);
                writing.flush();
            }
        })?;
        Ok(writer)
    }

    /// Adds a line.
    pub(super) fn write(&self, line: &[u8]) {
        let full = {
            let mut waiting = lock(&self.0.waiting);
            waiting.extend_from_slice(line);
            waiting.len() > MOST_BYTES
        };
        if full {
            self.flush();
        }
    }

    /// Writes all that waits.
    pub(super) fn flush(&self) {
        let mut writing = lock(&self.0.writing);
        std::mem::swap(&mut *writing, &mut *lock(&self.0.waiting));
        if !writing.is_empty() {
            // Nothing can be said where stderr is gone.
            let _stderr_may_be_gone = io::stderr().write_all(&writing);
            writing.clear();
        }
    }
}

fn lock(buffer: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}
