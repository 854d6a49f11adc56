//! When a model is left alone: one that does not answer must not cost each search all the time it may take.

use std::time::Duration;

use tokio::time::Instant;

/// So many failures in a row, and it is left alone.
const FAILURES: u32 = 3;

/// For so long.
pub(crate) const PAUSE: Duration = Duration::from_secs(30);

/// How it has been going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breaker {
    /// It answers.
    Working,
    /// It failed so many times in a row.
    Failing(u32),
    /// It is left alone until then.
    LeftAlone(Instant),
}

/// What is new, and worth a line in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    BeganToFail,
    IsLeftAlone,
    WorksAgain,
}

impl Breaker {
    /// Whether it may be asked now. When its pause is over, one search tries, and the others do without until that
    /// one knows.
    pub(crate) fn may_ask(&mut self, now: Instant) -> bool {
        match self {
            Self::Working | Self::Failing(_) => true,
            Self::LeftAlone(until) if now < *until => false,
            Self::LeftAlone(until) => {
                *until = now + PAUSE;
                true
            }
        }
    }

    /// Takes note that it answered.
    pub(crate) fn answered(&mut self) -> Option<News> {
        match std::mem::replace(self, Self::Working) {
            Self::Working => None,
            Self::Failing(_) | Self::LeftAlone(_) => Some(News::WorksAgain),
        }
    }

    /// Takes note that it failed.
    pub(crate) fn failed(&mut self, now: Instant) -> Option<News> {
        let failures = match self {
            Self::Working => 1,
            Self::Failing(failures) => failures.saturating_add(1),
            Self::LeftAlone(_) => FAILURES,
        };
        let was = *self;
        *self = if failures < FAILURES { Self::Failing(failures) } else { Self::LeftAlone(now + PAUSE) };
        match (was, *self) {
            (Self::Working, Self::Failing(_)) => Some(News::BeganToFail),
            (Self::Working | Self::Failing(_), Self::LeftAlone(_)) => Some(News::IsLeftAlone),
            _ => None,
        }
    }
}

/// Tells the log what is new of such a model.
pub(crate) fn report(news: Option<News>, what: &str, error: Option<&dyn std::error::Error>) {
    let cause = error.map(ToString::to_string).unwrap_or_default();
    match news {
        Some(News::BeganToFail) => {
            tracing::warn!(error.cause = %cause, "{what} failed; answers do without it");
        }
        Some(News::IsLeftAlone) => {
            tracing::warn!(
                error.cause = %cause,
                pause_s = PAUSE.as_secs(),
                "{what} keeps failing and is left alone for a while, again and again until it answers"
            );
        }
        Some(News::WorksAgain) => tracing::info!("{what} answers again"),
        None => {}
    }
}
