//! The delivery guarantees, tested with a real receiver and killed processes.

mod child;
mod delivery;
mod events;
mod https;
mod kills;
mod log;
mod neighbours;
mod receiver;
mod tracking;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use super::{Endpoint, Event, Schedule, ServerId, Settings, Tracker};

fn settings(folder: &Path) -> Settings {
    Settings {
        folder: folder.to_owned(),
        server_id: ServerId::of_user("ana"),
        cap_bytes: Settings::DEFAULT_MAX_BUFFER_BYTES,
    }
}

fn tracker(folder: &Path) -> Tracker {
    Tracker::on(settings(folder))
}

fn no_match(context: &str) -> Event {
    Event::NoMatch { context: context.to_owned() }
}

/// A short interval for tests.
fn schedule(interval: u64) -> Schedule {
    let interval = Duration::from_millis(interval);
    Schedule { interval, timeout: Duration::from_millis(200), shutdown_timeout: Duration::from_millis(500) }
}

/// Names of the files in a folder with a prefix.
fn files(folder: &Path, start: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(start)).collect();
    names.sort();
    names
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// Number of events not delivered yet.
fn pending_events(folder: &Path) -> usize {
    let mut names = files(folder, "analytics-batch-");
    names.push("analytics-buffer.jsonl".to_owned());
    names.iter().map(|name| text(folder, name).lines().count()).sum()
}

/// Waits for a condition.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "timed out: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Like `eventually`, without blocking the thread.
async fn eventually_async(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "timed out: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Publishes until `work` is done, then shuts down.
async fn publishing(
    tracker: &Tracker,
    endpoint: Endpoint,
    schedule: Schedule,
    work: impl Future<Output = ()>,
) {
    super::publish(tracker.clone(), endpoint, schedule, work).await;
}
