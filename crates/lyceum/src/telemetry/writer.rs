//! Buffers log lines, and writes them to stderr from a thread, many times a second.
//!
//! A system call per line would be a large part of the cost of a fast request. Warnings and errors are flushed at
//! once, with everything before them, and so is everything on a clean exit.

use std::{
    io::{self, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::config::LogFormat;

/// Maximum delay of a line.
const MAX_DELAY: Duration = Duration::from_millis(20);

/// Maximum size of the buffer: seconds of a busy server.
const MAX_BUFFERED_BYTES: usize = 4 * 1024 * 1024;

/// The buffered log writer. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct LogWriter(Arc<Buffers>);

#[derive(Debug)]
struct Buffers {
    format: LogFormat,
    pending: Mutex<Vec<u8>>,
    /// Locked while stderr is written, so that lines stay in order; adding a line does not wait for it.
    writing: Mutex<Vec<u8>>,
    dropped: AtomicU64,
}

impl LogWriter {
    /// A writer without a thread, which writes when it is flushed.
    pub(super) fn new(format: LogFormat) -> Self {
        let (pending, writing, dropped) = (Mutex::default(), Mutex::default(), AtomicU64::default());
        Self(Arc::new(Buffers { format, pending, writing, dropped }))
    }

    /// Starts the writer thread, which runs until the process ends.
    pub(super) fn start(format: LogFormat) -> io::Result<Self> {
        let writer = Self::new(format);
        let writing = writer.clone();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(MAX_DELAY);
                writing.flush();
            }
        })?;
        Ok(writer)
    }

    /// Adds a line. If stderr is blocked and the buffer is full, lines are dropped and counted.
    pub(super) fn write(&self, line: &[u8]) {
        let mut pending = lock(&self.0.pending);
        if pending.len() + line.len() > MAX_BUFFERED_BYTES {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        pending.extend_from_slice(line);
    }

    /// Takes the pending lines instead of writing them.
    #[cfg(test)]
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut lock(&self.0.pending))
    }

    /// Writes all pending lines, unless another thread is doing so.
    pub(super) fn flush(&self) {
        let Ok(mut writing) = self.0.writing.try_lock() else { return };
        std::mem::swap(&mut *writing, &mut *lock(&self.0.pending));
        let dropped = self.0.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            const MESSAGE: &str = "log lines were dropped, because stderr is blocked";
            // Writing to memory can't fail.
            let _written = match self.0.format {
                LogFormat::Json => {
                    writeln!(writing, r#"{{"level":"WARN","message":"{MESSAGE}","count":{dropped}}}"#)
                }
                LogFormat::Text(_) => writeln!(writing, " WARN {MESSAGE} count={dropped}"),
            };
        }
        if !writing.is_empty() {
            // An error can't be reported if stderr is gone.
            let _stderr_may_be_gone = io::stderr().write_all(&writing);
            writing.clear();
        }
    }
}

fn lock(buffer: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}
