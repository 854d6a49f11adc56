//! How skills are used: seven kinds of event, written down before the tool answers, and sent to an endpoint.
//!
//! # What is promised
//!
//! An event that [`Tracker::track`] took is neither lost nor counted twice, whether the endpoint fails, answers after
//! our time-out, or this process is killed at any point.
//!
//! * Not lost: the line is written before `track` returns, and it leaves the disk only after an answer of 2xx.
//! * Not twice: from the first try on, a batch is a file that never changes. What became of a batch can be unknown
//!   (a time-out, a kill between the answer and the removal); it is then sent again, the same bytes under the same
//!   `Idempotency-Key`, and an event never moves to another batch. A receiver that keeps the keys it has seen, or the
//!   `id` of each event, counts every event once. One that keeps neither gets every event at least once; nobody could
//!   promise it more. Keys are often kept for a day only, and an endpoint can be away for longer: the ids are the safer.
//!
//! A loss of power, unlike a kill, can take events of the seconds before it: `track` does not wait for the disk. A batch
//! is on the disk before it is first sent.
//!
//! # Files
//!
//! All in one folder, which the processes of one user share:
//!
//! * `analytics-buffer.jsonl`: an event a line, added to under `analytics-buffer.lock`.
//! * `analytics-batch-{id}.jsonl`: what was the buffer, by a rename; the id is the `Idempotency-Key`.
//! * `analytics-torn.jsonl`: lines that a kill or a full disk left unfinished, for a person to look at.
//! * `analytics-publisher.lock`: held by the one process that publishes.
//!
//! When they hold more than the cap, new events are refused, so that what was once taken is never given up.

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
pub use tally::Figures;
pub use tracker::{Settings, Tracker};

#[cfg(test)]
mod tests;
