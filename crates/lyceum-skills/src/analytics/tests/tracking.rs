//! Writing events down, whatever the disk is like.

use std::{
    fs::{self, File},
    io,
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use jiff::Timestamp;

use super::{
    asked,
    child::{Part, Process},
    eventually, files, publishing,
    receiver::Receiver,
    schedule, settings, soon, text, tracker, waiting,
};
use crate::analytics::{
    Figures, Settings, Tracker,
    batch::{freeze, sweep},
    folder::Folder,
    id::Id,
    lock::Lock,
};

#[tokio::test]
async fn a_tracker_that_is_off_writes_and_sends_nothing() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let tracker = Tracker::off();
    tracker.track(&asked("anything"));
    // Does not wait for its end, which here never comes.
    publishing(&tracker, receiver.endpoint(), schedule(1), std::future::pending()).await;
    assert_eq!(tracker.figures(), Figures::default());
    assert_eq!(files(folder.path(), ""), [] as [&str; 0]);
    assert_eq!(receiver.seen().len(), 0);
}

#[test]
fn an_event_is_in_the_buffer_when_track_returns() {
    let folder = tempfile::tempdir().unwrap();
    // The folder is made if need be.
    let below = folder.path().join("not/yet");
    let tracker = tracker(&below);
    for count in 1..=3 {
        tracker.clone().track(&asked("something"));
        assert_eq!(text(&below, "analytics-buffer.jsonl").lines().count(), count);
    }
    assert_eq!(tracker.figures(), Figures { recorded: 3, ..Figures::default() });
    fs::remove_dir_all(&below).unwrap();
    tracker.track(&asked("after somebody cleaned up"));
    assert_eq!(waiting(&below), 1);
}

#[cfg(unix)]
#[test]
fn what_people_ask_for_is_for_the_eyes_of_the_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("mine");
    tracker(&below).track(&asked("something private"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&below), 0o700);
    assert_eq!(mode(&below.join("analytics-buffer.jsonl")), 0o600);
}

#[test]
fn many_events_make_batches_of_at_most_a_thousand_and_a_hundred_kilobytes() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = tracker(folder.path());
    for number in 0..3000 {
        tracker.track(&asked(&number.to_string()));
    }
    let batches = files(folder.path(), "analytics-batch-");
    assert!(batches.len() > 2, "{batches:?}");
    for name in &batches {
        let batch = text(folder.path(), name);
        assert!(batch.len() <= 98_304 && batch.lines().count() <= 1000, "{}", batch.len());
    }
    assert_eq!(waiting(folder.path()), 3000);
}

#[tokio::test]
async fn a_full_buffer_refuses_new_events_until_there_is_room() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let cap_bytes = 300 * 1024;
    let tracker = Tracker::on(Settings { cap_bytes, ..settings(folder.path()) });
    let mut taken = 0;
    while tracker.figures().refused < 5 {
        tracker.track(&asked(&format!("{taken} {}", "x".repeat(2000))));
        taken = tracker.figures().recorded;
    }
    let size = |name: &String| fs::metadata(folder.path().join(name)).unwrap().len();
    let total: u64 = files(folder.path(), "analytics-").iter().map(size).sum();
    assert!((cap_bytes * 2 / 3..=cap_bytes).contains(&total), "{total}");
    assert_eq!(waiting(folder.path()) as u64, taken);

    // All that was taken is delivered, and then there is room again.
    let delivered = soon("all is delivered", || receiver.stored() as u64 == taken);
    publishing(&tracker, receiver.endpoint(), schedule(5), delivered).await;
    eventually("there is room", || {
        tracker.track(&asked("later"));
        tracker.figures().recorded > taken
    });
}

#[test]
fn a_full_disk_fails_no_call_and_leaves_no_half_event() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::start_without_room(&Part::new(folder.path(), "much"));
    process.ask(200);
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
    tracker.track(&asked("something"));
    tracker.track(&asked("something"));
    assert_eq!(tracker.figures(), Figures { failed: 2, ..Figures::default() });
}

#[test]
fn a_neighbour_that_stopped_with_the_lock_in_its_hand_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let tracker = tracker(folder.path());
    tracker.track(&asked("before"));
    let held = Lock::now(&Folder::new(folder.path().to_owned()).buffer_lock()).unwrap().unwrap();
    let start = Instant::now();
    for _ in 0..10 {
        tracker.track(&asked("meanwhile"));
    }
    assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
    assert_eq!(files(folder.path(), "analytics-batch-").len(), 10);
    drop(held);
    assert_eq!(waiting(folder.path()), 11);
    assert_eq!(tracker.figures().recorded, 11);
}

#[test]
fn the_publisher_does_not_take_the_buffer_out_of_the_hand_of_one_who_writes() {
    let dir = tempfile::tempdir().unwrap();
    tracker(dir.path()).track(&asked("before"));
    let (folder, id) = (Folder::new(dir.path().to_owned()), Id::new(Timestamp::now()).unwrap());
    let held = Lock::now(&folder.buffer_lock()).unwrap().unwrap();
    assert_eq!(freeze(&folder, id).unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(text(dir.path(), "analytics-buffer.jsonl").lines().count(), 1);
    drop(held);
    assert_eq!(freeze(&folder, id).unwrap(), Some(id));
    assert_eq!(freeze(&folder, id).unwrap(), None);
    assert_eq!(waiting(dir.path()), 1);
}

#[tokio::test]
async fn an_unfinished_line_is_set_aside_and_harms_no_other() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let tracker = tracker(folder.path());
    let torn = "{\"id\":\"01KHRJGTJ0QZ8X4V7C2M9T6B3D\",\"type\":\"no_ma";
    tracker.track(&asked("before"));
    let mut buffer = text(folder.path(), "analytics-buffer.jsonl");
    buffer.push_str(torn);
    fs::write(folder.path().join("analytics-buffer.jsonl"), buffer).unwrap();
    tracker.track(&asked("after"));

    let both = soon("both arrive", || receiver.stored() == 2 && tracker.figures().torn == 1);
    publishing(&tracker, receiver.endpoint(), schedule(5), both).await;
    receiver.check_once(["before".to_owned(), "after".to_owned()]);
    assert_eq!(text(folder.path(), "analytics-torn.jsonl"), format!("{torn}\n"));
    assert_eq!(waiting(folder.path()), 0);
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
    let gone = soon("it is set aside", || files(folder.path(), name).is_empty());
    publishing(&tracker, receiver.endpoint(), schedule(5), gone).await;
    assert_eq!(
        fs::read(folder.path().join("analytics-torn.jsonl")).unwrap(),
        b"[1]\n\0\0\0\n{\"\xff\":1}\n{}{}\n"
    );
    assert_eq!(receiver.seen().len(), 0);
}
