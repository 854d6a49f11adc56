//! Tests of log lines for people.

use tracing_subscriber::layer::SubscriberExt;

use super::*;
use crate::config::LogFormat;

/// The text that a function logs. Warnings are flushed to stderr at once, so it must log at a lower level.
fn logged(color: Color, work: impl FnOnce()) -> String {
    let writer = LogWriter::new(LogFormat::Text(color));
    let subscriber = tracing_subscriber::registry().with(TextLines::new(writer.clone(), color));
    tracing::subscriber::with_default(subscriber, work);
    String::from_utf8(writer.take()).unwrap()
}

#[test]
fn a_line_reads_from_left_to_right_without_json() {
    let text = logged(Color::Never, || {
        let request = tracing::error_span!("request", request_id = "r-1", http.route = "/mcp");
        request.in_scope(|| tracing::info!(rows = 3, path = "a b.md", ms = 1.23456, "read"));
    });
    let (clock, line) = text.split_at("12:34:56".len());
    assert!(clock.chars().filter(|c| *c == ':').count() == 2, "{text}");
    assert_eq!(line, "  INFO read  rows=3 path=\"a b.md\" ms=1.235 request_id=r-1\n");
}

#[test]
fn colors_are_used_only_where_they_are_shown() {
    let work = || tracing::info!("read");
    assert!(logged(Color::Always, work).contains("\x1b[32m INFO\x1b[0m read"));
    assert!(!logged(Color::Never, work).contains('\x1b'));
}

#[test]
fn logged_text_can_not_control_the_terminal() {
    let text = logged(Color::Never, || tracing::info!(path = "\x1b[2J", "first\nsecond \x07"));
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(!text.contains(['\x1b', '\x07']), "{text:?}");
    assert!(text.contains(r"first\nsecond") && text.contains(r"path=\u{1b}[2J"), "{text}");
}
