//! Parsing an event stream.

use super::last_event;

#[track_caller]
fn check(stream: &str, expected: Option<&str>) {
    assert_eq!(last_event(stream).ok(), expected, "{stream:?}");
}

#[test]
fn the_answer_is_the_last_event_with_data() {
    check("event: message\ndata: {\"id\":1}\n\n", Some("{\"id\":1}"));
    check("id: 0\nretry: 3000\ndata:\n\n: ping\n\nid: 1\ndata: {}\n\n", Some("{}"));
    check(": ping\n\n", None);
}
