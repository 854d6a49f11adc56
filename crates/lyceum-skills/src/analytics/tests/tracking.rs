//! Storing events, also on a full disk.

use std::{
    fs::{self, File},
    io,
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use jiff::Timestamp;

use super::{
    child::{ChildSpec, Process},
    eventually, eventually_async, files, no_match, pending_events, publishing,
    receiver::Receiver,
    schedule, settings, text, tracker,
};
use crate::analytics::{
    Counters, Settings, Tracker,
    batch::{freeze, sweep},
    folder::Folder,
    id::Id,
    lock::Lock,
};

#[tokio::test]
async fn a_tracker_that_is_off_writes_and_sends_nothing() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let tracker = Tracker::off();
    tracker.track(&no_match("anything"));
    // Returns at once, although `stop` is never ready.
    publishing(&tracker, receiver.endpoint(), schedule(1), std::future::pending()).await;
    assert_eq!(tracker.counters(), Counters::default());
    assert_eq!(files(folder.path(), ""), [] as [&str; 0]);
    assert_eq!(receiver.requests().len(), 0);
}

#[test]
fn an_event_is_in_the_buffer_when_track_returns() {
    let folder = tempfile::tempdir().unwrap();
    // The folder is created on demand.
    let below = folder.path().join("not/yet");
    let tracker = tracker(&below);
    for count in 1..=3 {
        tracker.clone().track(&no_match("something"));
        assert_eq!(text(&below, "analytics-buffer.jsonl").lines().count(), count);
    }
    assert_eq!(tracker.counters(), Counters { recorded: 3, ..Counters::default() });
    fs::remove_dir_all(&below).unwrap();
    tracker.track(&no_match("after somebody cleaned up"));
    assert_eq!(pending_events(&below), 1);
}

#[cfg(unix)]
#[test]
fn what_people_ask_for_is_for_the_eyes_of_the_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("mine");
    tracker(&below).track(&no_match("something private"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&below), 0o700);
    assert_eq!(mode(&below.join("analytics-buffer.jsonl")), 0o600);
}

#[test]
fn many_events_make_batches_of_at_most_a_thousand_and_a_hundred_kilobytes() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = tracker(folder.path());
    for number in 0..3000 {
        tracker.track(&no_match(&number.to_string()));
    }
    let batches = files(folder.path(), "analytics-batch-");
    assert!(batches.len() > 2, "{batches:?}");
    for name in &batches {
        let batch = text(folder.path(), name);
        assert!(batch.len() <= 98_304 && batch.lines().count() <= 1000, "{}", batch.len());
    }
    assert_eq!(pending_events(folder.path()), 3000);
}

#[tokio::test]
async fn a_full_buffer_refuses_new_events_until_there_is_room() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let cap_bytes = 300 * 1024;
    let tracker = Tracker::on(Settings { cap_bytes, ..settings(folder.path()) });
    let mut taken = 0;
    while tracker.counters().refused < 5 {
        tracker.track(&no_match(&format!("{taken} {}", "x".repeat(2000))));
        taken = tracker.counters().recorded;
    }
    let size = |name: &String| fs::metadata(folder.path().join(name)).unwrap().len();
    let total: u64 = files(folder.path(), "analytics-").iter().map(size).sum();
    assert!((cap_bytes * 2 / 3..=cap_bytes).contains(&total), "{total}");
    assert_eq!(pending_events(folder.path()) as u64, taken);

    // All accepted events are delivered, and then there is room again.
    let delivered = eventually_async("all is delivered", || receiver.stored() as u64 == taken);
    publishing(&tracker, receiver.endpoint(), schedule(5), delivered).await;
    eventually("there is room", || {
        tracker.track(&no_match("later"));
        tracker.counters().recorded > taken
    });
}

#[test]
fn a_full_disk_fails_no_call_and_leaves_no_half_event() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::start_without_room(&ChildSpec::new(folder.path(), "much"));
    process.request(200);
    process.wait_for(200);
    let (recorded, failed) = process.end();
    assert_eq!(recorded + failed, 200);
    assert!(recorded > 5 && failed > 5, "{recorded} recorded, {failed} failed");
    let buffer = text(folder.path(), "analytics-buffer.jsonl");
    assert_eq!(buffer.lines().count(), recorded);
    assert!(buffer.ends_with("}\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_without_any_room_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("analytics-buffer.jsonl")).unwrap();
    let tracker = tracker(folder.path());
    tracker.track(&no_match("something"));
    tracker.track(&no_match("something"));
    assert_eq!(tracker.counters(), Counters { failed: 2, ..Counters::default() });
}

#[test]
fn a_neighbour_that_stopped_with_the_lock_in_its_hand_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = tracker(folder.path());
    tracker.track(&no_match("before"));
    let held = Lock::try_acquire(&Folder::new(folder.path().to_owned()).buffer_lock()).unwrap().unwrap();
    let start = Instant::now();
    for _ in 0..10 {
        tracker.track(&no_match("meanwhile"));
    }
    assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
    assert_eq!(files(folder.path(), "analytics-batch-").len(), 10);
    drop(held);
    assert_eq!(pending_events(folder.path()), 11);
    assert_eq!(tracker.counters().recorded, 11);
}

#[test]
fn the_publisher_does_not_take_the_buffer_out_of_the_hand_of_one_who_writes() {
    let dir = tempfile::tempdir().unwrap();
    tracker(dir.path()).track(&no_match("before"));
    let (folder, id) = (Folder::new(dir.path().to_owned()), Id::new(Timestamp::now()).unwrap());
    let held = Lock::try_acquire(&folder.buffer_lock()).unwrap().unwrap();
    assert_eq!(freeze(&folder, id).unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(text(dir.path(), "analytics-buffer.jsonl").lines().count(), 1);
    drop(held);
    assert_eq!(freeze(&folder, id).unwrap(), Some(id));
    assert_eq!(freeze(&folder, id).unwrap(), None);
    assert_eq!(pending_events(dir.path()), 1);
}

#[tokio::test]
async fn an_unfinished_line_is_set_aside_and_harms_no_other() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let tracker = tracker(folder.path());
    let torn = "{\"id\":\"01KHRJGTJ0QZ8X4V7C2M9T6B3D\",\"type\":\"no_ma";
    tracker.track(&no_match("before"));
    let mut buffer = text(folder.path(), "analytics-buffer.jsonl");
    buffer.push_str(torn);
    fs::write(folder.path().join("analytics-buffer.jsonl"), buffer).unwrap();
    tracker.track(&no_match("after"));

    let both = eventually_async("both arrive", || receiver.stored() == 2 && tracker.counters().torn == 1);
    publishing(&tracker, receiver.endpoint(), schedule(5), both).await;
    receiver.check_once(["before".to_owned(), "after".to_owned()]);
    assert_eq!(text(folder.path(), "analytics-torn.jsonl"), format!("{torn}\n"));
    assert_eq!(pending_events(folder.path()), 0);
}

#[test]
fn what_a_kill_left_of_a_batch_is_removed_when_it_is_old() {
    let dir = tempfile::tempdir().unwrap();
    let name = |end: &str| format!("analytics-batch-01KHRJGTJ0QZ8X4V7C2M9T6B3{end}.new");
    let (old, new) = (name("A"), name("B"));
    let long_ago = SystemTime::now() - Duration::from_secs(2 * 3600);
    File::create(dir.path().join(&old)).unwrap().set_modified(long_ago).unwrap();
    File::create(dir.path().join(&new)).unwrap();
    sweep(&Folder::new(dir.path().to_owned())).unwrap();
    assert_eq!(files(dir.path(), "analytics-"), [new]);
}

#[tokio::test]
async fn a_batch_of_nothing_but_rubbish_is_set_aside_without_a_request() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let name = "analytics-batch-01KHRJGTJ0QZ8X4V7C2M9T6B3D.jsonl";
    fs::write(folder.path().join(name), b"[1]\n\0\0\0\n{\"\xff\":1}\n\n{}{}").unwrap();
    let tracker = tracker(folder.path());
    let gone = eventually_async("it is set aside", || files(folder.path(), name).is_empty());
    publishing(&tracker, receiver.endpoint(), schedule(5), gone).await;
    assert_eq!(
        fs::read(folder.path().join("analytics-torn.jsonl")).unwrap(),
        b"[1]\n\0\0\0\n{\"\xff\":1}\n{}{}\n"
    );
    assert_eq!(receiver.requests().len(), 0);
}
