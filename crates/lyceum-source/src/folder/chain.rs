//! The folders above one that was entered through a link, to notice circles.

use std::sync::Arc;

/// The real paths of the folders above, nearest first.
pub(super) struct Chain {
    real: String,
    next: Option<Arc<Self>>,
}

impl Chain {
    pub(super) fn put(real: String, next: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { real, next })
    }

    /// The folders above a real path, up to the root.
    pub(super) fn of_parents(real: &str) -> Option<Arc<Self>> {
        let parents = real.match_indices('/').filter_map(|(at, _)| real.get(..at));
        let root = (!real.is_empty()).then_some("");
        root.into_iter().chain(parents).fold(None, |next, parent| Some(Self::put(parent.to_owned(), next)))
    }

    pub(super) fn holds(&self, real: &str) -> bool {
        let mut at = Some(self);
        while let Some(chain) = at {
            if chain.real == real {
                return true;
            }
            at = chain.next.as_deref();
        }
        false
    }
}
