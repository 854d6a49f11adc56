//! Examples of the protocol buffer documentation.

use super::Message;

#[track_caller]
fn check(write: impl Fn(&mut Message), expected: &[u8]) {
    let mut message = Message::default();
    write(&mut message);
    assert_eq!(message.as_bytes(), expected);
}

#[test]
fn numbers_and_texts_are_written_as_the_format_has_them() {
    check(|m| _ = m.int(1, 150), &[0x08, 0x96, 0x01]);
    check(|m| _ = m.text(2, "testing"), b"\x12\x07testing");
    check(|m| _ = m.float(3, 1.0), &[0x1d, 0, 0, 0x80, 0x3f]);
    check(|m| _ = m.int(1, -1), &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
}

#[test]
fn a_message_stands_inside_of_another() {
    let mut inner = Message::default();
    inner.int(1, 150);
    check(|m| _ = m.message(3, &inner), &[0x1a, 0x03, 0x08, 0x96, 0x01]);
    check(|m| _ = m.length_prefix(3, 3).append(&[8, 0x96, 1]), &[0x1a, 0x03, 0x08, 0x96, 0x01]);
}
