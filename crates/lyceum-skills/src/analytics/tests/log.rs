//! Log messages: actionable, and without secrets.

use std::{
    fmt::{Debug, Write},
    sync::{Arc, Mutex},
};

use tracing::{
    Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, Registry, layer::Context, layer::SubscriberExt};

use super::{
    eventually_async, no_match, publishing,
    receiver::{Behavior, Receiver},
    schedule, settings, tracker,
};
use crate::analytics::{Endpoint, Settings, Tracker};

/// Captures log lines.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn has(&self, part: &str) -> bool {
        self.lines().iter().any(|line| line.contains(part))
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        if *event.metadata().level() <= Level::INFO {
            self.0.lock().unwrap().push(line.0);
        }
    }
}

/// Publishes until the log has a line with that part.
async fn check(url: &str, part: &str) {
    let log = Log::default();
    let _listening = tracing::subscriber::set_default(Registry::default().with(log.clone()));
    let folder = tempfile::tempdir().unwrap();
    let tracker = tracker(folder.path());
    tracker.track(&no_match("what people ask for is private"));
    publishing(
        &tracker,
        Endpoint::parse(url).unwrap(),
        schedule(2),
        eventually_async(part, || log.has(part)),
    )
    .await;
    let lines = log.lines().join("\n");
    for secret in ["private", "hunter2", "t0ken", "hooks", folder.path().to_str().unwrap()] {
        assert!(!lines.contains(secret), "{secret}: {lines}");
    }
    assert!(lines.contains("endpoint=http://127.0.0.1 "), "{lines}");
}

#[tokio::test]
async fn the_log_says_what_to_do_and_never_the_whole_address() {
    let receiver = Receiver::start([]);
    let url = |port: u16| format!("http://me:hunter2@127.0.0.1:{port}/hooks/t0ken?key=t0ken");
    for (behavior, part) in [
        (Behavior::Answer(500, ""), "the endpoint returned 500"),
        (Behavior::Answer(401, ""), "check the credentials in the configured URL"),
        (Behavior::Answer(404, ""), "the endpoint does not exist"),
        (Behavior::Answer(413, ""), "raise the body limit of the receiver"),
        (Behavior::Answer(422, ""), "delete the file to discard its events"),
        (
            Behavior::Answer(307, "Location: http://me:hunter2@127.0.0.1/t0ken\r\n"),
            "configure the target URL",
        ),
        (Behavior::HangUp, "were not delivered; they are buffered"),
        (Behavior::Hang, "were not delivered; they are buffered"),
    ] {
        receiver.always(behavior);
        check(&url(receiver.port()), part).await;
    }
    let port = receiver.port();
    drop(receiver);
    check(&url(port), "were not delivered; they are buffered").await;
}

#[test]
fn a_full_buffer_is_told_once() {
    let log = Log::default();
    let _listening = tracing::subscriber::set_default(Registry::default().with(log.clone()));
    let folder = tempfile::tempdir().unwrap();
    let tracker = Tracker::on(Settings { cap_bytes: 1024, ..settings(folder.path()) });
    for _ in 0..50 {
        tracker.track(&no_match("something"));
    }
    assert!(tracker.counters().refused > 40);
    assert_eq!(log.lines().len(), 1, "{:?}", log.lines());
    assert!(log.has("the analytics buffer is full"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_once_a_minute() {
    let log = Log::default();
    let _listening = tracing::subscriber::set_default(Registry::default().with(log.clone()));
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("analytics-buffer.jsonl")).unwrap();
    let tracker = tracker(folder.path());
    for _ in 0..50 {
        tracker.track(&no_match("something"));
    }
    assert_eq!(tracker.counters().failed, 50);
    assert_eq!(log.lines().len(), 1, "{:?}", log.lines());
    assert!(log.has("check that the disk is not full"));
}
