//! A place that holds the current snapshot of something.

use std::sync::Arc;

use arc_swap::ArcSwap;

/// The current snapshot: readers take it without a lock, a writer builds the next and swaps it in.
#[derive(Debug, Default)]
pub struct Current<T>(ArcSwap<T>);

impl<T> Current<T> {
    /// Starts with a first snapshot.
    pub fn new(first: T) -> Self {
        Self(ArcSwap::from_pointee(first))
    }

    /// The snapshot of this moment; it stays whole for as long as the reader keeps it.
    pub fn get(&self) -> Arc<T> {
        self.0.load_full()
    }

    /// Swaps the next snapshot in and returns the one before.
    pub fn swap(&self, next: T) -> Arc<T> {
        self.0.swap(Arc::new(next))
    }
}
