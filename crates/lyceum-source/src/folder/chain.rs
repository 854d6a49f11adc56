//! Ancestors of a folder entered through a symlink, to detect cycles.

use std::sync::Arc;

/// Real paths of the ancestors, nearest first.
pub(super) struct Chain {
    real: String,
    next: Option<Arc<Self>>,
}

impl Chain {
    pub(super) fn push(real: String, next: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { real, next })
    }

    /// The ancestors of a real path, up to the root.
    pub(super) fn of_parents(real: &str) -> Option<Arc<Self>> {
        let parents = real.match_indices('/').filter_map(|(at, _)| real.get(..at));
        let root = (!real.is_empty()).then_some("");
        root.into_iter().chain(parents).fold(None, |next, parent| Some(Self::push(parent.to_owned(), next)))
    }

    pub(super) fn contains(&self, real: &str) -> bool {
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
