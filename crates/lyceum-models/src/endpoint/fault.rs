//! What can go wrong between us and an endpoint, whatever it was asked for.

use std::time::Duration;

use crate::{embedder::EmbedError, reranker::RerankError};

/// Why there is no answer. Texts are for whoever runs the server, and hold no key and no address.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It can't be asked as it is set up.
    Unusable(String),
    /// It can't be reached, or broke off.
    Unreachable(String),
    /// It did not answer in time.
    Late(Duration),
    /// It has too much to do.
    Busy { status: u16, retry_after: Option<Duration> },
    /// It does not take the request, or failed over it.
    Refused { status: u16, message: String },
    /// The answer is something else.
    Malformed(String),
}

impl Fault {
    /// What an error of the client means.
    pub(super) fn of(error: reqwest::Error, limit: Duration) -> Self {
        if error.is_timeout() {
            return Self::Late(limit);
        }
        Self::Unreachable(lyceum_net::causes(error))
    }
}

impl From<Fault> for EmbedError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unusable(why) => Self::Model(why),
            Fault::Unreachable(why) => Self::Unreachable(why),
            Fault::Late(limit) => Self::Late(limit),
            Fault::Busy { status, retry_after } => Self::Busy { status, retry_after },
            Fault::Refused { status, message } => Self::Refused { status, message },
            Fault::Malformed(why) => Self::Malformed(why),
        }
    }
}

impl From<Fault> for RerankError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unusable(why) => Self::Model(why),
            Fault::Unreachable(why) => Self::Unreachable(why),
            Fault::Late(limit) => Self::Late(limit),
            Fault::Busy { status, .. } => Self::Refused { status, message: "it is busy".to_owned() },
            Fault::Refused { status, message } => Self::Refused { status, message },
            Fault::Malformed(why) => Self::Malformed(why),
        }
    }
}
