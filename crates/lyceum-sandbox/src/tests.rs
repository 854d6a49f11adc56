//! Parsing, output capture and the wire format.

use std::{collections::BTreeMap, io};

use crate::{
    Level, LevelChoice, Limits,
    capture::Capture,
    wire::{Report, frame, read_frame},
};

#[track_caller]
fn check_choice(text: &str, expected: Option<LevelChoice>) {
    assert_eq!(text.parse().ok(), expected, "{text:?}");
    assert_eq!(serde_json::from_value(text.into()).ok(), expected, "{text:?}");
}

#[test]
fn the_operator_writes_a_level_in_small_letters() {
    check_choice("auto", Some(LevelChoice::Auto));
    check_choice("strict", Some(LevelChoice::Strict));
    check_choice("standard", Some(LevelChoice::Standard));
    check_choice("none", Some(LevelChoice::None));
    check_choice("None", None);
    check_choice("", None);
    let error = "off".parse::<LevelChoice>().unwrap_err().to_string();
    assert_eq!(error, r#"unknown sandbox level "off": use auto, strict, standard or none"#);
    assert_eq!(Level::Strict.to_string(), "strict");
}

async fn check_capture(bytes: &[u8], max: usize, text: &str, truncated: bool) {
    let mut capture = Capture::new(max);
    capture.drain(bytes).await;
    let output = capture.into_output();
    assert_eq!((output.text.as_str(), output.truncated), (text, truncated), "{bytes:?}");
}

#[tokio::test]
async fn the_beginning_of_a_stream_is_kept_and_no_character_is_cut() {
    check_capture(b"hello", 10, "hello", false).await;
    check_capture(b"hello", 5, "hello", false).await;
    check_capture(b"hello", 4, "hell", true).await;
    check_capture(b"hello", 0, "", true).await;
    check_capture("größe".as_bytes(), 3, "gr", true).await;
    check_capture("größe".as_bytes(), 4, "grö", true).await;
    check_capture("g\u{1F30D}".as_bytes(), 4, "g", true).await;
    // Invalid UTF-8 is replaced, also at the end.
    check_capture(b"a\xFFb\xC3", 10, "a\u{FFFD}b\u{FFFD}", false).await;
    check_capture(b"a\xFFbc", 3, "a\u{FFFD}b", true).await;
}

#[test]
fn a_message_comes_back_as_it_was_and_no_other_does() {
    let sent = frame(&Report::Refused("why".to_owned())).unwrap();
    let read: Report = read_frame(&mut sent.as_slice()).unwrap();
    assert!(matches!(read, Report::Refused(reason) if reason == "why"));

    let cut: io::Result<Report> = read_frame(&mut &sent[..sent.len() - 1]);
    assert_eq!(cut.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    let huge: io::Result<Report> = read_frame(&mut [0xFF; 8].as_slice());
    assert_eq!(huge.unwrap_err().kind(), io::ErrorKind::InvalidData);
    let other = frame(&BTreeMap::from([("Else", 1)])).unwrap();
    assert!(read_frame::<Report>(&mut other.as_slice()).is_err());
}

#[test]
fn limits_are_those_of_the_documentation() {
    let limits = Limits::default();
    assert_eq!((limits.timeout.as_secs(), limits.grace.as_secs()), (60, 5));
    assert_eq!((limits.output_bytes, limits.memory_bytes), (1 << 20, 1 << 30));
    assert_eq!((limits.file_bytes, limits.scratch_bytes), (16 << 20, 64 << 20));
    assert_eq!((limits.processes, limits.open_files), (64, 128));
}
