//! Log lines for people: time, level, message and fields, in color if the terminal shows colors.
//!
//! Control characters are escaped, so that logged text can't move the cursor or fake another line.

use std::fmt::{self, Write};

use jiff::{Timestamp, tz::TimeZone};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use super::{log::is_logged, writer::LogWriter};
use crate::config::Color;

/// A layer that writes events as text.
pub(super) struct TextLines {
    writer: LogWriter,
    color: Color,
    time_zone: TimeZone,
}

/// The fields of a span, as text.
struct SpanText(String);

impl TextLines {
    pub(super) fn new(writer: LogWriter, color: Color) -> Self {
        Self { writer, color, time_zone: TimeZone::system() }
    }

    fn style(&self, code: &'static str) -> &'static str {
        match self.color {
            Color::Always => code,
            Color::Never => "",
        }
    }

    fn head(&self, line: &mut String, level: Level, message: &str) {
        let clock = Timestamp::now().to_zoned(self.time_zone.clone()).strftime("%H:%M:%S");
        let code = match level {
            Level::ERROR => "\x1b[31m",
            Level::WARN => "\x1b[33m",
            Level::INFO => "\x1b[32m",
            Level::DEBUG | Level::TRACE => "\x1b[36m",
        };
        let (dim, color, reset) = (self.style("\x1b[2m"), self.style(code), self.style("\x1b[0m"));
        // Writing to memory can't fail.
        let _written = write!(line, "{dim}{clock}{reset} {color}{level:>5}{reset} {message}");
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TextLines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = SpanFields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(SpanText(fields.0));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = SpanFields::default();
        values.record(&mut fields);
        if let Some(SpanText(text)) = span.extensions_mut().get_mut() {
            text.push_str(&fields.0);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let level = *event.metadata().level();
        let mut fields = EventFields::default();
        event.record(&mut fields);
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(SpanText(text)) = span.extensions().get() {
                fields.others.push_str(text);
            }
        }
        let mut line = String::with_capacity(128);
        self.head(&mut line, level, &fields.message);
        if !fields.others.is_empty() {
            let (dim, reset) = (self.style("\x1b[2m"), self.style("\x1b[0m"));
            let _written = write!(line, " {dim}{}{reset}", fields.others);
        }
        line.push('\n');
        self.writer.write(line.as_bytes());
        if level <= Level::WARN {
            self.writer.flush();
        }
    }
}

/// The message and the other fields of an event.
#[derive(Default)]
struct EventFields {
    message: String,
    others: String,
}

impl Visit for EventFields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // Rounds to three decimals, for readability.
        self.record_debug(field, &format_args!("{}", (value * 1000.0).round() / 1000.0));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = escaped(&format!("{value:?}"));
        } else {
            add(&mut self.others, field, value);
        }
    }
}

/// The fields of a span that appear in log lines.
#[derive(Default)]
struct SpanFields(String);

impl Visit for SpanFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if is_logged(field) {
            add(&mut self.0, field, &format_args!("{value}"));
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

/// Adds ` name=value`, with quotes if the value has spaces.
fn add(text: &mut String, field: &Field, value: &dyn fmt::Debug) {
    let value = format!("{value:?}");
    let needs_quotes = value.is_empty() || value.contains(char::is_whitespace);
    let value = if needs_quotes { format!("{value:?}") } else { escaped(&value) };
    // Writing to memory can't fail.
    let _written = write!(text, " {}={value}", field.name());
}

/// Escapes control characters.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests;
