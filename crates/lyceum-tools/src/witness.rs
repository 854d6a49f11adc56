//! Who is told of what somebody may have to answer for: calls that the gate refused, and calls that write.

use std::{fmt, sync::Arc};

use lyceum_model::Caller;

use crate::Denied;

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Witnessed<'a> {
    /// The gate stayed shut.
    Refused {
        /// For whom.
        caller: &'a Caller,
        /// Before which tool.
        tool: &'a str,
        /// Why.
        denied: &'a Denied,
    },
    /// A tool that writes was called.
    Wrote {
        /// By whom.
        caller: &'a Caller,
        /// Which one.
        tool: &'a str,
        /// Whether it did what was asked.
        went_well: bool,
    },
}

/// Somebody who is told. It is told in the middle of a call, so it must not wait.
#[derive(Clone)]
pub struct Witness(Arc<dyn Fn(Witnessed<'_>) + Send + Sync>);

impl Witness {
    /// Tells this.
    pub fn new(tell: impl Fn(Witnessed<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, witnessed: Witnessed<'_>) {
        (self.0)(witnessed);
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}
