//! Good and bad endpoints: each event arrives, and is counted once by a receiver that deduplicates by key.

use std::{
    fs,
    time::{Duration, Instant},
};

use super::{
    eventually_async, files, no_match, pending_events, publishing,
    receiver::{Behavior, Receiver},
    schedule, tracker,
};
use crate::analytics::{Endpoint, InvalidEndpoint, Schedule};

/// Publishes three events to a receiver with these initial behaviors; all must arrive, with at least that many
/// requests.
async fn check(first: impl IntoIterator<Item = Behavior>, requests: usize) -> Receiver {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start(first));
    let tracker = tracker(folder.path());
    let contexts = ["one", "two", "three"];
    contexts.iter().for_each(|context| tracker.track(&no_match(context)));
    let arrived = eventually_async("all arrive and are removed", || {
        pending_events(folder.path()) == 0 && contexts.iter().all(|context| receiver.has(context))
    });
    publishing(&tracker, receiver.endpoint(), schedule(5), arrived).await;
    assert!(receiver.keys().len() >= requests, "{:?}", receiver.keys());
    receiver.check_once(contexts.map(str::to_owned));
    assert_eq!(tracker.counters().published, 3);
    // Events never move to another batch, so all requests have the same key.
    assert!(receiver.keys().iter().all(|key| *key == receiver.keys()[0]), "{:?}", receiver.keys());
    receiver
}

#[tokio::test]
async fn an_endpoint_that_works_gets_one_request_in_the_form_of_the_specification() {
    let receiver = check([], 1).await;
    let seen = receiver.requests();
    assert_eq!((seen.len(), seen[0].events), (1, 3));
    let head = seen[0].head.to_lowercase();
    assert!(head.starts_with("post /events http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{head}");
    assert!(head.contains("\r\nuser-agent: lyceum/"), "{head}");
    assert_eq!(receiver.max_deliveries(), 1);
}

#[tokio::test]
async fn any_answer_of_2xx_will_do() {
    let receiver = check([], 1).await;
    assert_eq!(receiver.max_deliveries(), 1);
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([Behavior::Answer(202, "")]));
    let tracker = tracker(folder.path());
    tracker.track(&no_match("something"));
    let taken = eventually_async("it is removed", || pending_events(folder.path()) == 0);
    publishing(&tracker, receiver.endpoint(), schedule(5), taken).await;
    assert_eq!(receiver.keys().len(), 1);
}

#[tokio::test]
async fn an_endpoint_that_fails_gets_the_same_batch_again() {
    check([Behavior::Answer(500, ""), Behavior::Answer(502, "")], 3).await;
    check([Behavior::Answer(408, ""), Behavior::Answer(409, ""), Behavior::Answer(425, "")], 4).await;
    check([Behavior::Answer(429, "Retry-After: 0\r\n"), Behavior::Answer(503, "Retry-After: soon\r\n")], 3)
        .await;
    check([Behavior::HangUp, Behavior::Hang], 3).await;
}

#[tokio::test]
async fn an_endpoint_that_stores_but_does_not_say_so_in_time_counts_nothing_twice() {
    let receiver = check([Behavior::StoreAndAnswerLate], 2).await;
    assert_eq!(receiver.max_deliveries(), 2, "without the key it would have been counted twice");
    check([Behavior::StoreAndHangUp, Behavior::StoreAndAnswerLate], 3).await;
}

#[tokio::test]
async fn an_endpoint_that_asks_for_time_gets_it_even_at_the_end() {
    for headers in ["Retry-After: 600\r\n", "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n"] {
        let (folder, receiver) =
            (tempfile::tempdir().unwrap(), Receiver::start([Behavior::Answer(503, headers)]));
        let tracker = tracker(folder.path());
        tracker.track(&no_match("something"));
        let work = async {
            eventually_async("the endpoint asks for time", || receiver.keys().len() == 1).await;
            // Many times the interval.
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        publishing(&tracker, receiver.endpoint(), schedule(2), work).await;
        assert_eq!(receiver.keys().len(), 1, "{headers}");
        assert_eq!(pending_events(folder.path()), 1);
    }
}

#[tokio::test]
async fn a_refused_batch_is_kept_and_does_not_hold_up_the_others() {
    for refusal in [Behavior::Answer(400, ""), Behavior::Answer(302, "Location: /elsewhere\r\n")] {
        let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([refusal]));
        let tracker = tracker(folder.path());
        tracker.track(&no_match("bad"));
        let work = async {
            eventually_async("it is refused", || receiver.keys().len() == 1).await;
            tracker.track(&no_match("good"));
            eventually_async("all arrive", || receiver.has("bad") && receiver.has("good")).await;
        };
        publishing(&tracker, receiver.endpoint(), schedule(20), work).await;
        receiver.check_once(["bad".to_owned(), "good".to_owned()]);
        let keys = receiver.keys();
        assert_eq!(keys.len(), 3, "{keys:?}");
        assert_eq!(keys.iter().filter(|key| **key == keys[0]).count(), 2, "{keys:?}");
    }
}

#[tokio::test]
async fn an_endpoint_that_refuses_everything_makes_no_heap_of_files() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    receiver.always(Behavior::Answer(401, ""));
    let tracker = tracker(folder.path());
    let mut tracked = 0;
    let work = eventually_async("it has refused often", || {
        tracker.track(&no_match(&tracked.to_string()));
        tracked += 1;
        receiver.keys().len() >= 8
    });
    publishing(&tracker, receiver.endpoint(), schedule(1), work).await;
    assert_eq!(files(folder.path(), "analytics-batch-").len(), 2);
    assert_eq!(pending_events(folder.path()), tracked);

    // The endpoint is fixed.
    receiver.always(Behavior::Store);
    let work = eventually_async("all arrive", || pending_events(folder.path()) == 0);
    publishing(&tracker, receiver.endpoint(), schedule(1), work).await;
    receiver.check_once((0..tracked).map(|number| number.to_string()));
}

#[tokio::test]
async fn an_endpoint_that_was_away_gets_one_batch_for_all_that_time() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    receiver.always(Behavior::HangUp);
    let tracker = tracker(folder.path());
    let mut tracked = 0;
    let work = async {
        eventually_async("it has failed often", || {
            tracker.track(&no_match(&tracked.to_string()));
            tracked += 1;
            receiver.keys().len() >= 4
        })
        .await;
        assert_eq!(files(folder.path(), "analytics-batch-").len(), 1);
        receiver.always(Behavior::Store);
        eventually_async("all arrive", || pending_events(folder.path()) == 0).await;
    };
    publishing(&tracker, receiver.endpoint(), schedule(1), work).await;
    receiver.check_once((0..tracked).map(|number| number.to_string()));
}

#[tokio::test]
async fn the_end_sends_what_is_buffered() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    let tracker = tracker(folder.path());
    tracker.track(&no_match("something"));
    let schedule = Schedule { interval: Duration::from_secs(3600), ..schedule(1) };
    publishing(&tracker, receiver.endpoint(), schedule, async {}).await;
    receiver.check_once(["something".to_owned()]);
    assert_eq!(pending_events(folder.path()), 0);
}

#[tokio::test]
async fn the_end_waits_for_a_request_that_is_out_but_not_for_long() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    receiver.always(Behavior::StoreAndAnswerLate);
    let tracker = tracker(folder.path());
    tracker.track(&no_match("something"));
    let schedule = Schedule {
        timeout: Duration::from_secs(10),
        shutdown_timeout: Duration::from_millis(100),
        ..schedule(1)
    };
    let start = Instant::now();
    let out = eventually_async("a request is out", || receiver.keys().len() == 1);
    publishing(&tracker, receiver.endpoint(), schedule, out).await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!((receiver.keys().len(), pending_events(folder.path())), (1, 1));

    // The next process sends the same batch soon after its start.
    receiver.always(Behavior::Store);
    let schedule = Schedule { interval: Duration::from_secs(3600), ..schedule };
    let gone = eventually_async("it is delivered", || pending_events(folder.path()) == 0);
    publishing(&tracker, receiver.endpoint(), schedule, gone).await;
    receiver.check_once(["something".to_owned()]);
    assert_eq!(receiver.keys()[0], receiver.keys()[1]);
}

#[tokio::test]
async fn a_batch_that_cannot_be_read_does_not_hold_up_the_others() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start([]));
    // Nobody can read a folder as a file, not even root.
    fs::create_dir(folder.path().join("analytics-batch-01KHRJGTJ0QZ8X4V7C2M9T6B3D.jsonl")).unwrap();
    let tracker = tracker(folder.path());
    tracker.track(&no_match("something"));
    let arrived = eventually_async("it arrives", || receiver.has("something"));
    publishing(&tracker, receiver.endpoint(), schedule(5), arrived).await;
    receiver.check_once(["something".to_owned()]);
}

#[test]
fn an_endpoint_is_an_address_of_http_and_shows_no_more_than_its_host() {
    #[track_caller]
    fn check(text: &str, shown: Result<&str, InvalidEndpoint>) {
        let endpoint = Endpoint::parse(text);
        let parsed = endpoint.clone().map(|endpoint| endpoint.to_string());
        assert_eq!(parsed, shown.map(str::to_owned), "{text}");
        assert!(!format!("{endpoint:?}").contains("secret"), "{endpoint:?}");
    }
    check("https://example.com/hooks/secret?token=secret", Ok("https://example.com"));
    check(" http://me:secret@[::1]:8080/ ", Ok("http://[::1]"));
    check("secret", Err(InvalidEndpoint::NotUrl));
    check("", Err(InvalidEndpoint::NotUrl));
    check("https://", Err(InvalidEndpoint::NotUrl));
    check("ftp://secret.example.com/", Err(InvalidEndpoint::Scheme));
    check("file:///secret", Err(InvalidEndpoint::Scheme));
}
