//! A budget of bytes that all clients share: what strangers make us hold has one bound, however many of them there are.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use lyceum_model::ErrorCode;

use crate::Error;

/// So many bytes for everyone together. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ByteBudget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    used: AtomicUsize,
    max: usize,
    /// The budget that this is a part of.
    whole: Option<ByteBudget>,
}

/// The budget is spent; some of it comes back when others are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server's shared buffer is full (limits.buffer_bytes); retry in a moment")]
pub struct BudgetExceeded;

impl From<BudgetExceeded> for Error {
    fn from(spent: BudgetExceeded) -> Self {
        Self::Failed { code: ErrorCode::Unavailable, message: spent.to_string() }
    }
}

/// Bytes of a budget, given back when this is dropped.
#[derive(Debug)]
pub struct ByteReservation {
    budget: ByteBudget,
    bytes: usize,
}

impl ByteBudget {
    /// A budget of that many bytes.
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Inner { used: AtomicUsize::new(0), max, whole: None }))
    }

    /// A part of this budget: whoever spends all of it leaves the rest to others.
    #[must_use]
    pub fn share(&self, max: usize) -> Self {
        Self(Arc::new(Inner { used: AtomicUsize::new(0), max, whole: Some(self.clone()) }))
    }

    /// Holds nothing yet.
    pub fn hold(&self) -> ByteReservation {
        ByteReservation { budget: self.clone(), bytes: 0 }
    }

    fn take(&self, bytes: usize) -> Result<(), BudgetExceeded> {
        let Inner { used, max, whole } = &*self.0;
        let fits = |used: usize| used.checked_add(bytes).filter(|sum| sum <= max);
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map_err(|_| BudgetExceeded)?;
        let Some(whole) = whole else { return Ok(()) };
        whole.take(bytes).inspect_err(|_| {
            used.fetch_sub(bytes, Ordering::Relaxed);
        })
    }

    fn give_back(&self, bytes: usize) {
        self.0.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.0.whole {
            whole.give_back(bytes);
        }
    }

    /// How many bytes are held.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }
}

impl ByteReservation {
    /// Holds so many more, or as many as before where there is no room.
    pub fn grow(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        self.budget.take(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Gives so many back.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.give_back(bytes);
    }
}

impl Drop for ByteReservation {
    fn drop(&mut self) {
        // Most held nothing, and touch nothing that others use.
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
        assert_eq!(stranger.grow(1), Err(BudgetExceeded), "the whole is spent");
        assert_eq!((share.used(), budget.used()), (40, 100));
        drop((stranger, member));
        assert_eq!((share.used(), budget.used()), (0, 0));
    }
}
