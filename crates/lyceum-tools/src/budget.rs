//! A byte budget shared by all clients: bounds the memory that clients can make the server hold, however many there
//! are.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use lyceum_model::ErrorCode;

use crate::Error;

/// A shared byte budget. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ByteBudget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    used: AtomicUsize,
    max: usize,
    /// The budget that this one is a share of.
    parent: Option<ByteBudget>,
}

/// The budget is used up. Bytes become available when other requests end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server's shared buffer is full (limits.buffer_bytes); retry in a moment")]
pub struct BudgetExceeded;

impl From<BudgetExceeded> for Error {
    fn from(error: BudgetExceeded) -> Self {
        Self::Failed { code: ErrorCode::Unavailable, message: error.to_string() }
    }
}

/// Bytes reserved from a budget, released on drop.
#[derive(Debug)]
pub struct ByteReservation {
    budget: ByteBudget,
    bytes: usize,
}

impl ByteBudget {
    /// Creates a budget of `max` bytes.
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Inner { used: AtomicUsize::new(0), max, parent: None }))
    }

    /// Creates a budget of `max` bytes that also counts against this one, so that its users can't exhaust the rest.
    #[must_use]
    pub fn share(&self, max: usize) -> Self {
        Self(Arc::new(Inner { used: AtomicUsize::new(0), max, parent: Some(self.clone()) }))
    }

    /// Starts a reservation of zero bytes.
    pub fn hold(&self) -> ByteReservation {
        ByteReservation { budget: self.clone(), bytes: 0 }
    }

    fn take(&self, bytes: usize) -> Result<(), BudgetExceeded> {
        let Inner { used, max, parent } = &*self.0;
        let fits = |used: usize| used.checked_add(bytes).filter(|sum| sum <= max);
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map_err(|_| BudgetExceeded)?;
        let Some(parent) = parent else { return Ok(()) };
        parent.take(bytes).inspect_err(|_| {
            used.fetch_sub(bytes, Ordering::Relaxed);
        })
    }

    fn release(&self, bytes: usize) {
        self.0.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.0.parent {
            parent.release(bytes);
        }
    }

    /// Number of reserved bytes.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }
}

impl ByteReservation {
    /// Reserves more bytes, or leaves the reservation as it is if the budget does not allow it.
    pub fn grow(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        self.budget.take(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Releases bytes.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.release(bytes);
    }
}

impl Drop for ByteReservation {
    fn drop(&mut self) {
        // Most reservations are empty and need not touch the shared counter.
        if self.bytes > 0 {
            self.shrink(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_bounded_and_given_back() {
        let budget = ByteBudget::new(100);
        let (mut one, mut other) = (budget.hold(), budget.hold());
        assert_eq!(one.grow(60), Ok(()));
        assert_eq!(other.grow(41), Err(BudgetExceeded));
        assert_eq!(other.grow(usize::MAX), Err(BudgetExceeded));
        assert_eq!(other.grow(40), Ok(()));
        one.shrink(1000);
        assert_eq!((budget.used(), other.grow(60)), (40, Ok(())));
        drop((one, other));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_share_that_is_spent_leaves_the_rest_to_others() {
        let budget = ByteBudget::new(100);
        let share = budget.share(50);
        let (mut stranger, mut member) = (share.hold(), budget.hold());
        assert_eq!(stranger.grow(50), Ok(()));
        assert_eq!(stranger.grow(1), Err(BudgetExceeded));
        assert_eq!(member.grow(50), Ok(()));
        stranger.shrink(10);
        assert_eq!(member.grow(10), Ok(()));
        assert_eq!(stranger.grow(1), Err(BudgetExceeded), "the parent budget is used up");
        assert_eq!((share.used(), budget.used()), (40, 100));
        drop((stranger, member));
        assert_eq!((share.used(), budget.used()), (0, 0));
    }
}
