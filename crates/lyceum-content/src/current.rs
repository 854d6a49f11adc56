//! Holds the current snapshot and swaps it atomically.

use std::sync::Arc;

use arc_swap::ArcSwap;

/// The current snapshot: readers take it without a lock, a writer builds the next and swaps it in.
#[derive(Debug, Default)]
pub struct Current<T>(ArcSwap<T>);

impl<T> Current<T> {
    /// Starts with an initial snapshot.
    pub fn new(first: T) -> Self {
        Self(ArcSwap::from_pointee(first))
    }

    /// Returns the current snapshot. It stays unchanged while the reader holds it.
    pub fn get(&self) -> Arc<T> {
        self.0.load_full()
    }

    /// Whether that snapshot is still the current one.
    pub fn is(&self, snapshot: &Arc<T>) -> bool {
        Arc::ptr_eq(snapshot, &self.0.load())
    }

    /// Swaps in the next snapshot and returns the previous one.
    pub fn swap(&self, next: T) -> Arc<T> {
        self.0.swap(Arc::new(next))
    }
}
