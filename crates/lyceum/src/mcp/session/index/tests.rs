//! Which sessions are persisted, who owns them, and which are evicted.

use rmcp::model::InitializeRequestParams;

use super::*;

fn state() -> Option<Box<SessionState>> {
    Some(Box::new(SessionState::new(InitializeRequestParams::default())))
}

fn at(second: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + second)
}

/// Opens a session and uses it, as real clients do.
fn write(index: &mut Index, id: &str, subject: Option<&str>, second: u64) {
    index.open(id, state(), at(second));
    assert!(matches!(index.visit(id, subject, at(second)), Visit::Write(..)), "{id}");
}

#[test]
fn a_handshake_alone_is_never_written_and_pushes_out_only_its_like() {
    let mut index = Index::new(10, 2);
    write(&mut index, "real", None, 0);
    for number in 0..100 {
        index.open(&format!("bare-{number}"), state(), at(number));
    }
    assert_eq!(index.entries.len(), 3);
    assert!(matches!(index.visit("real", None, at(200)), Visit::Known));
    assert!(matches!(index.visit("bare-97", None, at(200)), Visit::Unknown));
    assert!(matches!(index.visit("bare-98", None, at(200)), Visit::Write(..)));
}

#[test]
fn room_is_made_among_sessions_without_an_owner_first_and_then_by_idleness() {
    let mut index = Index::new(3, 100);
    write(&mut index, "owned-old", Some("key:a"), 0);
    write(&mut index, "owned-new", Some("key:b"), 9);
    write(&mut index, "nobody-old", None, 1);
    write(&mut index, "nobody-new", None, 8);
    assert!(index.exceeds_limit());
    assert_eq!(index.make_room(at(10), |_| false), ["nobody-old"]);
    write(&mut index, "nobody-newer", None, 10);
    assert_eq!(index.make_room(at(10), |id| id == "nobody-new"), ["nobody-newer"]);
    write(&mut index, "owned-newer", Some("key:c"), 11);
    assert_eq!(index.make_room(at(11), |_| false), ["nobody-new"]);
    write(&mut index, "owned-newest", Some("key:d"), 12);
    assert_eq!(index.make_room(at(12), |_| false), ["owned-old"]);
    assert!(!index.exceeds_limit());
}

#[test]
fn what_nobody_used_for_a_month_goes() {
    let mut index = Index::new(10, 10);
    write(&mut index, "old", Some("key:a"), 0);
    write(&mut index, "held", None, 0);
    write(&mut index, "new", None, SESSION_TTL.as_secs());
    assert_eq!(index.make_room(at(SESSION_TTL.as_secs() + 1), |id| id == "held"), ["old"]);
}

#[test]
fn a_session_belongs_to_the_first_subject_that_uses_it() {
    let mut index = Index::new(10, 10);
    write(&mut index, "s", None, 0);
    assert!(matches!(index.visit("s", Some("key:a"), at(1)), Visit::Bind(owner) if owner == "key:a"));
    assert!(matches!(index.visit("s", Some("key:a"), at(2)), Visit::Known));
    assert!(matches!(index.visit("s", Some("key:b"), at(2)), Visit::Foreign));
    assert!(matches!(index.visit("s", None, at(2)), Visit::Foreign));
}
