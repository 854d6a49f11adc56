//! Log lines: one JSON object each, with the message and every field at the top level.

use std::{cell::RefCell, fmt, io::Write};

use jiff::Timestamp;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context};

use super::writer::LogWriter;

thread_local! {
    /// The line in the making; kept, so that a line costs no allocation.
    static LINE: RefCell<Line> = const { RefCell::new(Line { text: Vec::new(), second: None, clock: String::new() }) };
}

struct Line {
    text: Vec<u8>,
    /// The second that `clock` shows: the calendar is asked once a second, not for every line.
    second: Option<i64>,
    clock: String,
}

impl Line {
    fn begin(&mut self, now: Timestamp, level: Level) {
        if self.second != Some(now.as_second()) {
            self.second = Some(now.as_second());
            self.clock = now.strftime("%Y-%m-%dT%H:%M:%S").to_string();
        }
        self.text.clear();
        let micros = now.subsec_microsecond();
        // Writing to memory can't fail.
        let _written = write!(self.text, r#"{{"timestamp":"{}.{micros:06}Z","level":"{level}""#, self.clock);
    }
}

/// Turns events into lines.
pub(super) struct JsonLines(pub LogWriter);

impl<S: Subscriber> Layer<S> for JsonLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = *event.metadata().level();
        LINE.with(|line| {
            // A value that logs while it is written would find the line taken; such an event is left out.
            let Ok(mut line) = line.try_borrow_mut() else { return };
            line.begin(Timestamp::now(), level);
            let text = &mut line.text;
            event.record(&mut Fields(text));
            text.extend_from_slice(b",\"target\":\"");
            text.extend_from_slice(event.metadata().target().as_bytes());
            text.extend_from_slice(b"\"}\n");
            self.0.write(text);
        });
        if level <= Level::WARN {
            self.0.flush();
        }
    }
}

/// Writes each field as a member.
struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn member(&mut self, field: &Field, value: &impl serde::Serialize) {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(field.name().as_bytes());
        self.0.extend_from_slice(b"\":");
        // Writing to memory can't fail.
        let _written = serde_json::to_writer(&mut *self.0, value);
    }
}

impl Visit for Fields<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // A log is read by people: a microsecond is fine enough for milliseconds.
        self.member(field, &((value * 1000.0).round() / 1000.0));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, &value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.member(field, &format_args!("{value:?}"));
    }
}
