//! Where log lines go: into a buffer that a thread writes to stderr many times a second.
//!
//! A system call for each line would be a good part of the cost of a fast request. A warning or a fault is written
//! at once with all that waits before it, and so is everything when the process ends in good order.

use std::{
    io::{self, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// How long a line may wait.
const MAX_DELAY: Duration = Duration::from_millis(20);

/// How much may wait: seconds of a busy server.
const MAX_BUFFERED_BYTES: usize = 4 * 1024 * 1024;

/// Log lines on their way to stderr. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct LogWriter(Arc<Buffers>);

#[derive(Debug, Default)]
struct Buffers {
    waiting: Mutex<Vec<u8>>,
    /// Held while stderr is written to, so that lines keep their order and nobody waits for it to add one.
    writing: Mutex<Vec<u8>>,
    left_out: AtomicU64,
}

impl LogWriter {
    /// Starts the thread that writes for as long as the process lives.
    pub(super) fn start() -> io::Result<Self> {
        let writer = Self::default();
        let writing = writer.clone();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(MAX_DELAY);
                writing.flush();
            }
        })?;
        Ok(writer)
    }

    /// Adds a line. Where stderr is not read and too much waits, lines are left out and counted instead.
    pub(super) fn write(&self, line: &[u8]) {
        let mut waiting = lock(&self.0.waiting);
        if waiting.len() + line.len() > MAX_BUFFERED_BYTES {
            self.0.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        waiting.extend_from_slice(line);
    }

    /// Takes what waits, in place of writing it.
    #[cfg(test)]
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut lock(&self.0.waiting))
    }

    /// Writes all that waits, unless that is being done already.
    pub(super) fn flush(&self) {
        let Ok(mut writing) = self.0.writing.try_lock() else { return };
        std::mem::swap(&mut *writing, &mut *lock(&self.0.waiting));
        let left_out = self.0.left_out.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            // Writing to memory can't fail.
            let _written = writeln!(
                writing,
                r#"{{"level":"WARN","message":"log lines were left out, for stderr was not read","count":{left_out}}}"#
            );
        }
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
