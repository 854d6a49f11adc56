//! The promise, kept against a real receiver by real processes that are really killed.

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

fn asked(context: &str) -> Event {
    Event::NoMatch { context: context.to_owned() }
}

/// Fast enough for a test; failures double it.
fn schedule(every: u64) -> Schedule {
    let every = Duration::from_millis(every);
    Schedule { every, timeout: Duration::from_millis(200), at_stop: Duration::from_millis(500) }
}

/// The names of the files in a folder that start so.
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

/// What is still to be delivered.
fn waiting(folder: &Path) -> usize {
    let mut names = files(folder, "analytics-batch-");
    names.push("analytics-buffer.jsonl".to_owned());
    names.iter().map(|name| text(folder, name).lines().count()).sum()
}

/// Waits within a limit until something holds.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The same in a test whose thread is needed by others meanwhile.
async fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Publishes for as long as the work goes on, then stops in good order.
async fn publishing(
    tracker: &Tracker,
    endpoint: Endpoint,
    schedule: Schedule,
    work: impl Future<Output = ()>,
) {
    super::publish(tracker.clone(), endpoint, schedule, work).await;
}
