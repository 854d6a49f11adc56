//! A place that holds the current snapshot of something.

use std::sync::{Arc, PoisonError, RwLock};

/// The current snapshot: readers take it, a writer builds the next and swaps it in.
#[derive(Debug, Default)]
pub struct Current<T>(RwLock<Arc<T>>);

impl<T> Current<T> {
    /// Starts with a first snapshot.
    pub fn new(first: T) -> Self {
        Self(RwLock::new(Arc::new(first)))
    }

    /// The snapshot of this moment; it stays whole for as long as the reader keeps it.
    pub fn get(&self) -> Arc<T> {
        // The lock only ever guards one pointer assignment, so a poisoned one still holds a whole snapshot.
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Swaps the next snapshot in and returns the one before.
    pub fn swap(&self, next: T) -> Arc<T> {
        let mut slot = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut slot, Arc::new(next))
    }
}
