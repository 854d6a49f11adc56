//! Log lines: one JSON object each, with message and fields at the top level, including the fields of enclosing spans.
//!
//! So every line of a request has its `request_id`, and every line of a background job run its `job` and `job_id`.

use std::{
    cell::RefCell,
    fmt,
    io::Write,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use jiff::Timestamp;
use opentelemetry::trace::TraceContextExt;
use tracing::{
    Dispatch, Event, Level, Subscriber,
    dispatcher::WeakDispatch,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_opentelemetry::get_otel_context;
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use super::{span::is_exporting, writer::LogWriter};

thread_local! {
    /// The current line; reused, so that a line costs no allocation.
    static LINE: RefCell<Line> = const { RefCell::new(Line { text: Vec::new(), second: None, clock: String::new() }) };
}

struct Line {
    text: Vec<u8>,
    /// The second that `clock` shows: the time is formatted once a second, not for every line.
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

/// A layer that writes events as lines.
pub(super) struct JsonLines {
    writer: LogWriter,
    /// The ids of job runs: a random part per process, and a counter.
    process: u32,
    jobs: AtomicU64,
    /// The dispatcher, to look up trace ids in the layer of the exporter.
    dispatch: OnceLock<WeakDispatch>,
}

/// The fields of a span, as JSON members.
struct SpanMembers(Vec<u8>);

impl JsonLines {
    pub(super) fn new(writer: LogWriter) -> Self {
        // Without randomness the ids are still unique within the process.
        let process = getrandom::u32().unwrap_or_default();
        Self { writer, process, jobs: AtomicU64::new(1), dispatch: OnceLock::new() }
    }

    /// Adds job fields. A root span that is not a request is a job run, named after the span.
    fn add_job(&self, members: &mut Vec<u8>, name: &str) {
        let count = self.jobs.fetch_add(1, Ordering::Relaxed);
        // Writing to memory can't fail.
        let _written = write!(members, r#","job":"{name}","job_id":"{:08x}-{count:08x}""#, self.process);
    }

    /// Adds the ids of the exported trace, so that a line can be found from its trace.
    fn add_trace(&self, text: &mut Vec<u8>, span: &Id) {
        let dispatch = self.dispatch.get().and_then(WeakDispatch::upgrade);
        let Some(context) = dispatch.and_then(|dispatch| get_otel_context(span, &dispatch)) else { return };
        let span = context.span();
        let ids = span.span_context();
        let _written = write!(text, r#","trace_id":"{}","span_id":"{}""#, ids.trace_id(), ids.span_id());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for JsonLines {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        let _is_first = self.dispatch.set(dispatch.downgrade());
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut members = Vec::with_capacity(64);
        attributes.record(&mut SpanFields(Fields(&mut members)));
        if span.parent().is_none() && attributes.metadata().fields().field("request_id").is_none() {
            self.add_job(&mut members, attributes.metadata().name());
        }
        span.extensions_mut().insert(SpanMembers(members));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(SpanMembers(members)) = span.extensions_mut().get_mut() {
            values.record(&mut SpanFields(Fields(members)));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let level = *event.metadata().level();
        LINE.with(|line| {
            // A field that logs while it is formatted would find the line borrowed; its event is dropped.
            let Ok(mut line) = line.try_borrow_mut() else { return };
            line.begin(Timestamp::now(), level);
            let text = &mut line.text;
            event.record(&mut Fields(text));
            for span in context.event_scope(event).into_iter().flatten() {
                if let Some(SpanMembers(members)) = span.extensions().get() {
                    text.extend_from_slice(members);
                }
            }
            if let Some(span) = context.event_span(event).filter(|_| is_exporting()) {
                self.add_trace(text, &span.id());
            }
            text.extend_from_slice(b",\"target\":\"");
            text.extend_from_slice(event.metadata().target().as_bytes());
            text.extend_from_slice(b"\"}\n");
            self.writer.write(text);
        });
        if level <= Level::WARN {
            self.writer.flush();
        }
    }
}

/// The members that every line has. A field of the same name gets a prefix, so that no key appears twice.
const RESERVED: [&str; 3] = ["timestamp", "level", "target"];

/// Writes each field as a JSON member.
struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn member(&mut self, field: &Field, value: &impl serde::Serialize) {
        self.0.extend_from_slice(b",\"");
        if RESERVED.contains(&field.name()) {
            self.0.extend_from_slice(b"field.");
        }
        self.0.extend_from_slice(field.name().as_bytes());
        self.0.extend_from_slice(b"\":");
        // Writing to memory can't fail.
        let _written = serde_json::to_writer(&mut *self.0, value);
    }
}

/// Writes the fields of a span that appear in log lines; all fields are exported.
struct SpanFields<'a>(Fields<'a>);

/// The span fields that appear in log lines.
const LOGGED: [&str; 3] = ["request_id", "mcp.method.name", "gen_ai.tool.name"];

/// Whether a span field appears in log lines.
pub(super) fn is_logged(field: &Field) -> bool {
    LOGGED.contains(&field.name())
}

impl Visit for SpanFields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if is_logged(field) {
            self.0.record_str(field, value);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl Visit for Fields<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // Rounds to three decimals, for readability.
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

#[cfg(test)]
mod tests;
