//! Usage events: seven kinds, persisted before the tool responds, and posted to an endpoint.
//!
//! # Guarantees
//!
//! An event accepted by [`Tracker::track`] is neither lost nor counted twice, even if the endpoint fails, responds
//! after our timeout, or this process is killed at any point.
//!
//! * Not lost: the line is written before `track` returns, and deleted only after a 2xx response.
//! * Not counted twice: from the first attempt on, a batch is an immutable file. If the outcome is unknown (a timeout,
//!   or a kill between response and deletion), the same bytes are sent again with the same `Idempotency-Key`, and an
//!   event never moves to another batch. A receiver that deduplicates by key, or by the `id` of each event, counts
//!   every event once; others get at-least-once delivery. Prefer the ids: keys are often kept for a day only, and an
//!   endpoint can be down for longer.
//!
//! A power loss, unlike a kill, can lose the events of the last seconds: `track` does not fsync. A batch is fsynced
//! before it is first sent.
//!
//! # Files
//!
//! All in one folder, shared by the processes of one user:
//!
//! * `analytics-buffer.jsonl`: one event per line, appended under `analytics-buffer.lock`.
//! * `analytics-batch-{id}.jsonl`: a renamed buffer; the id is the `Idempotency-Key`.
//! * `analytics-torn.jsonl`: lines that a kill or a full disk left incomplete, for inspection.
//! * `analytics-publisher.lock`: held by the publishing process.
//!
//! Above the size cap, new events are rejected, so that accepted ones are never dropped.

mod append;
mod batch;
mod clip;
mod endpoint;
mod event;
mod folder;
mod id;
mod line;
mod lock;
mod post;
mod publish;
mod publisher;
mod tally;
mod tracker;
mod wait;

pub use endpoint::{Endpoint, InvalidEndpoint};
pub use event::{Event, RefreshMode};
pub use line::ServerId;
pub use publish::{Schedule, publish};
pub use tally::Counters;
pub use tracker::{Settings, Tracker};

#[cfg(test)]
mod tests;
