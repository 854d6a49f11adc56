//! Turns at work that anybody can cause, such as asking another server: so many at once, and so many of them by one name.
//!
//! Nobody waits in line: whoever gets no turn is told so, and what is slow holds no more than its own share.

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

/// What a turn counts against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LimitKey {
    /// The host that is asked.
    Host(String),
    /// The address that a request came from.
    Address(IpAddr),
}

/// Turns that are taken.
#[derive(Debug, Default)]
pub(crate) struct ConcurrencyLimits {
    taken: Mutex<Vec<Vec<LimitKey>>>,
}

/// One turn; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'t> {
    turns: &'t ConcurrencyLimits,
    shares: Vec<LimitKey>,
}

impl ConcurrencyLimits {
    /// Takes a turn if fewer than `most` are taken, and of each share fewer than its own number.
    pub(crate) fn take(
        &self,
        most: usize,
        shares: impl IntoIterator<Item = (LimitKey, usize)>,
    ) -> Option<Permit<'_>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = Vec::new();
        for (share, of_it) in shares {
            if taken.iter().filter(|turn| turn.contains(&share)).count() >= of_it {
                return None;
            }
            own.push(share);
        }
        if taken.len() >= most {
            return None;
        }
        taken.push(own.clone());
        Some(Permit { turns: self, shares: own })
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut taken = self.turns.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = taken.iter().position(|turn| *turn == self.shares) {
            taken.swap_remove(place);
        }
    }
}
